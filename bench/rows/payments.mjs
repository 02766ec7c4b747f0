import { measure } from '../measure.mjs';
import { row } from '../report.mjs';
import { SERVER_KEY } from '../stage.mjs';

/** POST /api/products/payments: settlements of distinct pending orders. */
export async function payments(bench) {
  const { stage } = bench;
  const { service, floors, pendingOrders } = await stage.databases();
  const measured = await stage.service(service);
  const f5 = await stage.floor('f5', floors);
  const traffic = { kind: 'notifications', options: { serverKey: SERVER_KEY, ...pendingOrders.payments } };
  const figures = await measure(bench, {
    service: { url: measured.url, traffic },
    F5: { url: f5.url, traffic },
  });
  await stage.stop(measured, f5);
  figures.service.problems.push(...(await unkept(stage, service, figures.service.rounds)));
  return [
    row('payment notifications', figures, [
      { name: '/ F5', value: figures.service.perSecond / figures.F5.perSecond, atLeast: 0.6 },
    ]),
  ];
}

/** An acknowledgement that changed nothing would be fast and worthless. */
async function unkept(stage, database, rounds) {
  const [{ paid, kept }] = await stage.query(
    database,
    `SELECT (SELECT count(*)::integer FROM orders WHERE status = 'settlement' AND completed_at IS NOT NULL) AS paid,
            (SELECT count(*)::integer FROM payment_notifications WHERE outcome = 'applied') AS kept`,
  );
  const acknowledged = rounds.reduce((sum, { statuses }) => sum + (statuses[200] ?? 0), 0);
  return paid >= acknowledged && kept === paid
    ? []
    : [`${acknowledged} acknowledged, but ${paid} orders paid and ${kept} notifications kept`];
}
