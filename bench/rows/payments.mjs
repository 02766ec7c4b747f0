import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';

/** POST /api/products/payments: settlements of distinct pending orders. Floors F5 and FN are minimal payments. */
export async function payments(bench) {
  const { stage } = bench;
  const database = await stage.createShopDatabase();
  const service = await stage.startService(database);
  const f5 = await stage.startFloor('f5', await stage.createShopDatabase());
  const fn = await stage.startFloor('fn', await stage.createShopDatabase());
  const traffic = stage.paymentTraffic;
  const figures = await measure(bench, {
    service: { url: service.url, traffic },
    F5: { url: f5.url, traffic },
    FN: { url: fn.url, traffic },
  });
  await stage.stop(service, f5, fn);
  figures.service.problems.push(...(await findLostPayments(stage, database, figures.service.rounds)));
  const { service: measured, F5, FN } = figures;
  return [
    buildRow('payment notifications', figures, [
      buildRatio('/ F5', measured, F5, { atLeast: 0.15 }),
      buildRatio('/ FN', measured, FN, { aim: 0.7 }),
    ]),
  ];
}

/** Returns a problem if acknowledged notifications paid no order. The uncounted warm-up has paid further orders. */
async function findLostPayments(stage, database, rounds) {
  const [{ paid, recorded }] = await stage.query(
    database,
    `SELECT (SELECT count(*)::integer FROM orders WHERE status = 'settlement' AND completed_at IS NOT NULL) AS paid,
            (SELECT count(*)::integer FROM payment_notifications WHERE outcome = 'applied') AS recorded`,
  );
  const acknowledged = rounds.reduce((sum, { statuses }) => sum + (statuses[200] ?? 0), 0);
  return paid >= acknowledged && recorded === paid
    ? []
    : [`${acknowledged} acknowledged, but ${paid} orders paid and ${recorded} notifications recorded`];
}
