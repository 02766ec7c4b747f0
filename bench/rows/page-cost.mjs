import { measure } from '../measure.mjs';
import { row } from '../report.mjs';

const [FEW, MANY] = [10_000, 1_000_000];

/** What a page costs in a large catalog and at its end, without the cache. */
export async function pageCost(bench) {
  const { stage } = bench;
  const [few, many] = [await stage.catalog(FEW), await stage.catalog(MANY)];
  const ofFew = await stage.service(few, { CATALOG_CACHE_MB: '0' });
  const ofMany = await stage.service(many, { CATALOG_CACHE_MB: '0' });
  const pages = (products) => ({ kind: 'pages', options: { products } });
  const page = (lastId) => ({ kind: 'page', options: { lastId } });
  const figures = await measure(bench, {
    [`of ${FEW}`]: { url: ofFew.url, traffic: pages(FEW) },
    [`of ${MANY}`]: { url: ofMany.url, traffic: pages(MANY) },
    first: { url: ofMany.url, traffic: page(0) },
    last: { url: ofMany.url, traffic: page(MANY - 50) },
  });
  await stage.stop(ofFew, ofMany);
  await stage.dropCatalog(FEW);
  await stage.dropCatalog(MANY);
  const { [`of ${FEW}`]: small, [`of ${MANY}`]: large, first, last } = figures;
  return [
    row('page cost, 1 million products', { [`of ${FEW}`]: small, [`of ${MANY}`]: large }, [
      { name: 'cost to that of 10,000', value: small.perSecond / large.perSecond, atMost: 1.1 },
    ]),
    row('page cost, last page', { first, last }, [
      { name: 'cost to that of the first', value: first.perSecond / last.perSecond, atMost: 1.1 },
    ]),
  ];
}
