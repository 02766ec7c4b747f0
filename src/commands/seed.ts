import type { Env } from '../config/env.js';
import type { Database } from '../config/database.js';
import { sideBySide } from './side-by-side.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { ProductsService } from '../products/products.service.js';
import { type Action, type ExitCode, readArgs, runCommand, UsageError } from './command-line.js';
import { catalog, MOST_PRODUCTS, type SeedProduct } from './seed/catalog.js';
import { picture } from './seed/examples.js';
import { seedOrders } from './seed/orders.js';
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

interface Plan {
  readonly products: number;
  readonly orders: number;
  readonly seed: number;
  readonly isSure: boolean;
}

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
    isSure: values.yes,
  };
  return (env, database) => run(plan, env, database);
}

function wholeNumber(option: string, text: string | undefined, least: number, most: number): number {
  const number = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(
    `${option} ${text ?? 'is missing: it'} must be a whole number from ${least} to ${most}`,
  );
}

async function run(plan: Plan, env: Env, database: Database): Promise<ExitCode> {
  if (env.nodeEnv === 'production' && !plan.isSure) {
    process.stderr.write('NODE_ENV is production: with --yes the made-up products are added all the same\n');
    return 1;
  }
  if (plan.orders > 0 && env.payment.gateway !== 'simulator') {
    process.stderr.write('made-up orders are not for a real payment gateway: leave --orders out\n');
    return 1;
  }
  const products = catalog(plan.products, plan.seed);
  return await withServices<ExitCode>(env, database, { imports: [PaymentsModule] }, async (services) => {
    const ids = await seedProducts(services.get(ProductsService, { strict: false }), products);
    if (plan.orders > 0) await seedOrders(services, plan.orders, ids, plan.seed);
    const images = products.reduce((sum, { pictures }) => sum + pictures.length, 0);
    process.stdout.write(`added ${ids.length} products with ${images} images, and ${plan.orders} orders\n`);
    return 0;
  });
}

async function seedProducts(service: ProductsService, products: readonly SeedProduct[]): Promise<number[]> {
  const ids: number[] = [];
  await sideBySide(products, 'products', async ({ name, description, price, pictures }) => {
    const images = pictures.map((file) => ({ bytes: picture(file), format: 'jpg' }) as const);
    const { id } = await service.create({ name, description, price, images });
    ids.push(id);
  });
  return ids;
}

runCommand(HELP, parse);
