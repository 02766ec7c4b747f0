import type { INestApplicationContext } from '@nestjs/common';
import { PaymentsModule } from '../payments/payments.module.js';
import { ProductsService } from '../products/products.service.js';
import { type Action, readArgs, runCommand, say, UsageError } from './command-line.js';
import { catalog, MOST_PRODUCTS, picture } from './seed/catalog.js';
import { seedOrders } from './seed/orders.js';
import { sideBySide } from './side-by-side.js';
import { withServices } from './with-services.js';

const MOST_ORDERS = 100_000;
const MAX_SEED = 2 ** 32 - 1;

const HELP = `Fills the catalog with a believable bakery, to try a storefront on.

  npm run seed -- --products N [--orders N] [--seed N] [--yes]

--products N   how many products, at most ${MOST_PRODUCTS}: no two of them have the same name
--orders N     also orders of 25 made-up customers, two thirds of them paid or ended; at most ${MOST_ORDERS}, and
               only with the simulator as the payment gateway
--seed N       which catalog: the same number gives the same products and pictures; 1 if it is left out
--yes          in production, where nothing is done without it

It adds and never removes: a second run with the same seed gives every product twice. Its pictures,
those of examples/pictures, are stored at the image host of the settings like those that an administrator uploads. It
sends no mail and runs no jobs: those of the orders wait for the service.
It uses the same settings as the service and may be used while the service runs.
Exit codes: 0 done, 1 not done (what was added until then stays), 2 wrong use.
`;

function parse(args: readonly string[]): Action {
  const { values } = readArgs({
    args: [...args],
    options: {
      products: { type: 'string' },
      orders: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      yes: { type: 'boolean', default: false },
    },
  });
  const plan = {
    products: wholeNumber('--products', values.products, 1, MOST_PRODUCTS),
    orders: wholeNumber('--orders', values.orders, 0, MOST_ORDERS),
    seed: wholeNumber('--seed', values.seed, 0, MAX_SEED),
  };
  return async (env, database) => {
    if (env.nodeEnv === 'production' && !values.yes)
      throw new Error('NODE_ENV is production: with --yes the made-up products are added all the same');
    if (plan.orders > 0 && env.payment.gateway !== 'simulator')
      throw new Error('made-up orders are not for a real payment gateway: leave --orders out');
    await withServices(env, database, { imports: [PaymentsModule] }, (services) => fill(services, plan));
  };
}

function wholeNumber(option: string, text: string | undefined, least: number, most: number): number {
  const number = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(
    `${option} ${text ?? 'is missing: it'} must be a whole number from ${least} to ${most}`,
  );
}

async function fill(
  services: INestApplicationContext,
  plan: { products: number; orders: number; seed: number },
): Promise<void> {
  const products = catalog(plan.products, plan.seed);
  const ids: number[] = [];
  await sideBySide(products, 'products', async ({ pictures, ...fields }) => {
    const images = pictures.map((name) => ({ bytes: picture(name), format: 'jpg' }) as const);
    ids.push((await services.get(ProductsService).create({ ...fields, images })).id);
  });
  await seedOrders(services, plan.orders, ids);
  const images = products.flatMap(({ pictures }) => pictures).length;
  say(`added ${ids.length} products with ${images} images, and ${plan.orders} orders`);
}

runCommand(HELP, parse);
