import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';

/** Products of a bakery, and of a catalog with so many pages that the cache rarely has the requested one. */
const [SHOP, LARGE] = [1_000, 100_000];

/** GET /api/products: random pages. Floors F1 and FX return a page from memory; F2 and FN read it from PostgreSQL. */
export async function list(bench) {
  return [...(await measureShop(bench)), ...(await measureLargeCatalog(bench))];
}

async function measureShop(bench) {
  const { stage } = bench;
  const database = await stage.getCatalogDatabase(SHOP);
  const service = await stage.startService(database);
  const [f1, f2, fx, fn] = await stage.startFloors(['f1', 'f2', 'fx', 'fn'], database);
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
    buildRow(`list, ${SHOP} products`, { service: full, F1, F2, FX, FN }, [
      buildRatio('/ F2', full, F2, { atLeast: 1.1 }),
      buildRatio('/ FN', full, FN, { atLeast: 1.8 }),
      buildRatio('/ FX', full, FX),
      buildRatio('/ F1', full, F1),
    ]),
    buildRow('list, unchanged (304)', { unchanged, full }, [
      buildRatio('/ full', unchanged, full, { aim: 1.1 }),
    ]),
  ];
}

async function measureLargeCatalog(bench) {
  const { stage } = bench;
  const database = await stage.getCatalogDatabase(LARGE);
  const service = await stage.startService(database);
  const uncached = await stage.startService(database, { CATALOG_CACHE_MB: '0' });
  const [f2, fn] = await stage.startFloors(['f2', 'fn'], database);
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
    buildRow(`list, ${LARGE} products`, { service: cached, F2, FN }, [
      buildRatio('/ F2', cached, F2, { atLeast: 0.5 }),
      buildRatio('/ FN', cached, FN),
    ]),
    buildRow('list, cache off', { service: off, F2, FN }, [
      buildRatio('/ F2', off, F2, { atLeast: 0.5 }),
      buildRatio('/ FN', off, FN, { aim: 0.7 }),
    ]),
  ];
}
