import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';
import { SHOP_PRODUCTS } from '../stage.mjs';

/** POST /api/orders: three items each. The gateway's stand-in responds at once. Floor F5 is a minimal payment. */
export async function orders(bench) {
  const { stage } = bench;
  const service = await stage.startService(await stage.createShopDatabase());
  const f5 = await stage.startFloor('f5', await stage.createShopDatabase());
  const figures = await measure(bench, {
    service: {
      url: service.url,
      traffic: { kind: 'orders', options: { products: SHOP_PRODUCTS } },
      status: 201,
    },
    F5: { url: f5.url, traffic: stage.paymentTraffic },
  });
  await stage.stop(service, f5);
  return [
    buildRow('orders of 3 items', figures, [
      buildRatio('/ F5', figures.service, figures.F5, { atLeast: 0.07 }),
    ]),
  ];
}
