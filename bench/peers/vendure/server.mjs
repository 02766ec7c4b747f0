/**
 * Vendure shop with its default settings and the payment method of its tests, which settles at once. With the argument `seed`,
 * it fills an empty database and ends. Settings: DATABASE_URL, PORT, BENCH_SECRET, PRODUCTS.
 */
import { bootstrap, DefaultLogger, dummyPaymentHandler, LanguageCode, LogLevel } from '@vendure/core';
import { populate } from '@vendure/core/cli/index.js';
import { writeFile } from 'node:fs/promises';

const STOCK = 1_000_000;
const isSeeding = process.argv[2] === 'seed';
const config = {
  apiOptions: {
    hostname: '127.0.0.1',
    port: Number(process.env.PORT),
    adminApiPath: 'admin-api',
    shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: 'bearer',
    requireVerification: false,
    superadminCredentials: { identifier: 'superadmin', password: process.env.BENCH_SECRET },
    cookieOptions: { secret: process.env.BENCH_SECRET },
  },
  dbConnectionOptions: {
    type: 'postgres',
    url: process.env.DATABASE_URL,
    synchronize: isSeeding,
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  logger: new DefaultLogger({ level: isSeeding ? LogLevel.Warn : LogLevel.Info }),
};

if (isSeeding) await seed();
else await bootstrap(config);

async function seed() {
  await writeFile('products.csv', buildProducts(Number(process.env.PRODUCTS)));
  const initialData = {
    defaultLanguage: LanguageCode.en,
    defaultZone: 'Indonesia',
    countries: [{ name: 'Indonesia', code: 'ID', zone: 'Indonesia' }],
    taxRates: [{ name: 'Standard Tax', percentage: 11 }],
    shippingMethods: [{ name: 'Standard', price: 1000 }],
    paymentMethods: [
      {
        name: 'Dummy',
        handler: { code: dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'true' }] },
      },
    ],
    collections: [],
  };
  const app = await populate(() => bootstrap(config), initialData, 'products.csv');
  await app.close();
  process.exit(0);
}

/** Builds the CSV file of Vendure's importer. */
function buildProducts(count) {
  const header =
    'name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets';
  const lines = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const price = (number % 500) * 10 + 5;
    return `Kue lapis ${number},kue-lapis-${number},"Loaf number ${number}, baked in the morning from flour, butter and eggs.",,,,,KUE-${number},${price},standard,${STOCK},true,,`;
  });
  return `${[header, ...lines].join('\n')}\n`;
}
