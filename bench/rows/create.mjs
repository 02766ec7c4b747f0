import { measure } from '../measure.mjs';
import { ratio, row } from '../report.mjs';

/** Shops have few administrators. */
const CONNECTIONS = 4;

/** POST /api/products with one JPEG of 30 KB, stored by the local image host. */
export async function create(bench) {
  const { stage } = bench;
  const service = await stage.service(await stage.shop());
  const f7 = await stage.floor('f7', await stage.shop());
  const target = { traffic: { kind: 'creates', options: {} }, connections: CONNECTIONS, status: 201 };
  const figures = await measure(bench, {
    service: { url: service.url, ...target },
    F7: { url: f7.url, ...target },
  });
  await stage.stop(service, f7);
  return [
    row('product with one image', figures, [ratio('/ F7', figures.service, figures.F7, { atLeast: 0.35 })]),
  ];
}
