import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';
import { SHOP_PRODUCTS } from '../stage.mjs';

/** POST /api/orders: three items each. The gateway's stand-in responds at once. */
export async function orders(bench) {
  const { stage } = bench;
  const service = await stage.startService(await stage.createShop());
  const f5 = await stage.startFloor('f5', await stage.createShop());
  const figures = await measure(bench, {
    service: {
      url: service.url,
      traffic: { kind: 'orders', options: { products: SHOP_PRODUCTS } },
      status: 201,
    },
    F5: { url: f5.url, traffic: stage.pendingOrders },
  });
  await stage.stop(service, f5);
  return [
    buildRow('orders of 3 items', figures, [
      buildRatio('/ F5', figures.service, figures.F5, { atLeast: 0.15 }),
    ]),
  ];
}
