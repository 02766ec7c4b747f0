interface Shop {
  readonly serviceUrl: string;
  readonly storefrontUrl: string;
  /** Folder with the mails of the service. */
  readonly outbox: string;
}

interface Settings {
  /** One shop for each worker, so that test files that run at the same time do not change each other's data. */
  readonly shops: readonly Shop[];
  /** Shop with CATALOG_ACCESS=public. */
  readonly publicShop: Shop;
  readonly admin: { readonly email: string; readonly password: string };
  /** Folder of the built storefront. */
  readonly dist: string;
  /** Number of products that each shop has before the tests. The public shop has fewer. */
  readonly productCount: number;
  /** Texts of the storefront by language and key. */
  readonly texts: Readonly<Record<'en' | 'id', Readonly<Record<string, string>>>>;
}

const { TEST_SETTINGS } = process.env;
if (TEST_SETTINGS === undefined) throw new Error('run these tests with npm run test:browser');
/** Settings that `run.mjs` passes to the tests. */
export const { shops, publicShop, admin, dist, productCount, texts } = JSON.parse(TEST_SETTINGS) as Settings;

/** Returns a text of the storefront. */
export function getText(language: 'en' | 'id', key: string): string {
  const text = texts[language][key];
  if (text === undefined) throw new Error(`the storefront has no text ${key}`);
  return text;
}

const shop = shops[Number(process.env.JEST_WORKER_ID) - 1];
if (shop === undefined) throw new Error('there are more workers than shops');
export const { serviceUrl, storefrontUrl, outbox } = shop;
