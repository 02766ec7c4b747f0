import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';

/** Shops have few administrators, so few connections create products. */
const CONNECTIONS = 4;

/** POST /api/products with one JPEG of 30 KB, stored by the local image host. Floor F7 is a minimal creation. */
export async function create(bench) {
  const { stage } = bench;
  const service = await stage.startService(await stage.createShopDatabase());
  const f7 = await stage.startFloor('f7', await stage.createShopDatabase());
  const target = { traffic: { kind: 'creates', options: {} }, connections: CONNECTIONS, status: 201 };
  const figures = await measure(bench, {
    service: { url: service.url, ...target },
    F7: { url: f7.url, ...target },
  });
  await stage.stop(service, f7);
  return [
    buildRow('product with one image', figures, [
      buildRatio('/ F7', figures.service, figures.F7, { atLeast: 0.18 }),
    ]),
  ];
}
