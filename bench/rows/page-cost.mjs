import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';

const [FEW, MANY] = [10_000, 1_000_000];

/** Cost of a page in a large catalog, relative to a small one, without the cache. The cost is the inverse rate. */
export async function pageCost(bench) {
  const { stage } = bench;
  const targets = {};
  const services = [];
  for (const products of [FEW, MANY]) {
    const database = await stage.getCatalogDatabase(products);
    const service = await stage.startService(database, { CATALOG_CACHE_MB: '0' });
    services.push(service);
    targets[`of ${products}`] = { url: service.url, traffic: { kind: 'pages', options: { products } } };
  }
  const figures = await measure(bench, targets);
  await stage.stop(...services);
  return [
    buildRow(`page cost, ${MANY} products`, figures, [
      buildRatio(`cost to that of ${FEW}`, figures[`of ${FEW}`], figures[`of ${MANY}`], { atMost: 1.25 }),
    ]),
  ];
}
