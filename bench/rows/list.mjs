import { measure } from '../measure.mjs';
import { ratio, row } from '../report.mjs';

/** Sizes of a bakery's catalog and of a catalog that exceeds the cache. */
const [SHOP, LARGE] = [1_000, 100_000];

/** GET /api/products with a session, random pages of the catalog. */
export async function list(bench) {
  return [...(await ofShop(bench)), ...(await ofLargeCatalog(bench))];
}

async function ofShop(bench) {
  const { stage } = bench;
  const database = await stage.catalog(SHOP);
  const service = await stage.service(database);
  const [f1, f2, fx, fn] = await stage.floors(['f1', 'f2', 'fx', 'fn'], database);
  const traffic = { kind: 'pages', options: { products: SHOP } };
  const known = { kind: 'known pages', options: { products: SHOP, url: service.url } };
  const figures = await measure(bench, {
    service: { url: service.url, traffic },
    unchanged: { url: service.url, traffic: known, status: 304 },
    F1: { url: f1.url, traffic },
    F2: { url: f2.url, traffic },
    FX: { url: fx.url, traffic },
    FN: { url: fn.url, traffic },
  });
  await stage.stop(service, f1, f2, fx, fn);
  const { service: full, unchanged, F1, F2, FX, FN } = figures;
  return [
    row(`list, ${SHOP} products`, { service: full, F1, F2, FX, FN }, [
      ratio('/ F2', full, F2, { atLeast: 2 }),
      ratio('/ FX', full, FX, { atLeast: 0.5 }),
      ratio('/ FN', full, FN, { aim: 0.7 }),
      ratio('/ F1', full, F1),
    ]),
    row('list, unchanged (304)', { unchanged, full }, [ratio('/ full', unchanged, full, { atLeast: 1.1 })]),
  ];
}

async function ofLargeCatalog(bench) {
  const { stage } = bench;
  const database = await stage.catalog(LARGE);
  const service = await stage.service(database);
  const uncached = await stage.service(database, { settings: { CATALOG_CACHE_MB: '0' } });
  const [f2, fn] = await stage.floors(['f2', 'fn'], database);
  const traffic = { kind: 'pages', options: { products: LARGE } };
  const figures = await measure(bench, {
    service: { url: service.url, traffic },
    'cache off': { url: uncached.url, traffic },
    F2: { url: f2.url, traffic },
    FN: { url: fn.url, traffic },
  });
  await stage.stop(service, uncached, f2, fn);
  const { service: cached, 'cache off': off, F2, FN } = figures;
  return [
    row(`list, ${LARGE} products`, { service: cached, F2, FN }, [
      ratio('/ F2', cached, F2, { atLeast: 0.5 }),
      ratio('/ FN', cached, FN),
    ]),
    row('list, cache off', { service: off, F2, FN }, [
      ratio('/ F2', off, F2, { atLeast: 0.5 }),
      ratio('/ FN', off, FN, { aim: 0.7 }),
    ]),
  ];
}
