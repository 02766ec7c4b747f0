interface Shop {
  readonly serviceUrl: string;
  readonly storefrontUrl: string;
  /** Folder with the mails of the service. */
  readonly outbox: string;
}

const shops = JSON.parse(readSetting('TEST_SHOPS')) as Shop[];
const shop = shops[Number(process.env.JEST_WORKER_ID) - 1];
if (shop === undefined) throw new Error('there are more workers than shops');

/** Shop of this worker. Test files of another worker use another shop. */
export const { serviceUrl, storefrontUrl, outbox } = shop;
/** Storefront of a service with CATALOG_ACCESS=public. */
export const publicStorefrontUrl = (JSON.parse(readSetting('TEST_PUBLIC_SHOP')) as Shop).storefrontUrl;
export const admin = JSON.parse(readSetting('TEST_ADMIN')) as { email: string; password: string };
/** Folder of the built storefront. */
export const dist = readSetting('TEST_DIST');

function readSetting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start these tests with npm run test:browser`);
  return value;
}
