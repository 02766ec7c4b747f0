import { measure } from '../measure.mjs';
import { row } from '../report.mjs';

/** GET /api/products, signed in, pages from anywhere in the catalog. */
export async function list(bench) {
  const { stage, options } = bench;
  const { service, floors } = await stage.databases();
  const cached = await stage.service(service);
  const uncached = await stage.service(service, { CATALOG_CACHE_MB: '0' });
  const [f1, f2, fx] = await Promise.all(['f1', 'f2', 'fx'].map((name) => stage.floor(name, floors)));
  const { products } = options;
  const pages = { kind: 'pages', options: { products } };
  const figures = await measure(bench, {
    service: { url: cached.url, traffic: pages },
    'cache off': { url: uncached.url, traffic: pages },
    unchanged: {
      url: cached.url,
      traffic: { kind: 'known pages', options: { products, url: cached.url } },
      status: 304,
    },
    F1: { url: f1.url, traffic: pages },
    F2: { url: f2.url, traffic: pages },
    FX: { url: fx.url, traffic: pages },
  });
  await stage.stop(cached, uncached, f1, f2, fx);
  const { service: full, 'cache off': off, unchanged, F1, F2, FX } = figures;
  return [
    row('list of products', { service: full, F1, F2, FX }, [
      { name: '/ F2', value: full.perSecond / F2.perSecond, atLeast: 2 },
      { name: '/ FX', value: full.perSecond / FX.perSecond, atLeast: 0.8 },
      { name: '/ F1', value: full.perSecond / F1.perSecond },
    ]),
    row('list, cache off', { service: off, F2 }, [
      { name: '/ F2', value: off.perSecond / F2.perSecond, atLeast: 0.65 },
    ]),
    row('list, unchanged (304)', { unchanged, full }, [
      { name: '/ full', value: unchanged.perSecond / full.perSecond, atLeast: 1.2 },
    ]),
  ];
}
