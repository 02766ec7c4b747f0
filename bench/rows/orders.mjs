import { LONG_WARM_UP_SECONDS, measure } from '../measure.mjs';
import { row } from '../report.mjs';
import { SERVER_KEY } from '../stage.mjs';

/** POST /api/orders: three items each, the gateway standing in answers at once. */
export async function orders(bench) {
  const { stage, options } = bench;
  const { service, floors, pendingOrders } = await stage.databases();
  const measured = await stage.service(service);
  const f5 = await stage.floor('f5', floors);
  const notifications = { serverKey: SERVER_KEY, ...pendingOrders.orders };
  const figures = await measure(
    bench,
    {
      service: {
        url: measured.url,
        traffic: { kind: 'orders', options: { products: options.products } },
        status: 201,
      },
      'F5 again': { url: f5.url, traffic: { kind: 'notifications', options: notifications } },
    },
    LONG_WARM_UP_SECONDS,
  );
  await stage.stop(measured, f5);
  // The gateway is not to be asked about them while something else is measured.
  await stage.query(
    service,
    `UPDATE orders SET next_check_at = now() + interval '1 day' WHERE next_check_at < now() + interval '1 hour'`,
  );
  return [
    row('orders of 3 items', figures, [
      { name: '/ F5', value: figures.service.perSecond / figures['F5 again'].perSecond, atLeast: 0.3 },
    ]),
  ];
}
