import { Injectable } from '@nestjs/common';
import { OrdersModule } from '../orders/orders.module.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { ProductsModule } from '../products/products.module.js';
import { ProductsService } from '../products/products.service.js';
import { hasNoPickup } from '../shop/pickup-windows.js';
import { ShopModule } from '../shop/shop.module.js';
import { DEFAULT_SHOP, ShopService } from '../shop/shop.service.js';
import { UsersModule } from '../users/users.module.js';
import { type Command, parseWholeNumber, readArgs, runCommand } from './command-line.js';
import { processWithProgress } from './process-with-progress.js';
import { BAKERY, buildCatalog, MAX_PRODUCTS, readPicture } from './seed/catalog.js';
import { SeedOrders } from './seed/orders.js';
import { Random } from './seed/random.js';
import { withServices } from './with-services.js';

const MAX_ORDERS = 100_000;
const DEFAULT_ORDERS = 300;
const MAX_SEED = 2 ** 32 - 1;

const HELP = `Fills the service with products, opening hours and orders of a made-up bakery, as test data for a storefront.

  npm run seed -- --products N [--orders N] [--seed N] [--yes]

--products N   number of products, at most ${MAX_PRODUCTS}; each has a different name
--orders N     number of orders, at most ${MAX_ORDERS}, from up to 100 customers; the pickup times are in the past
               60 days, today and in the next days; requires the payment simulator (default: ${DEFAULT_ORDERS} with the
               payment simulator, 0 with a real payment gateway)
--seed N       seed of the random choices: the same seed creates the same products, pictures and orders; default 1
--yes          required in production

The command only adds data: a second run with the same seed adds all products again. It sets the opening hours only if
the shop has none. It uploads pictures from examples/pictures to the configured image host. It sends no mail and runs no
jobs: the service runs the jobs of the new orders.
The command uses the settings of the service. It can run while the service runs.
Exit codes: 0 success, 1 failure (data that was added before the failure stays), 2 wrong usage.
`;

@Injectable()
class SeedCommand {
  constructor(
    private readonly shop: ShopService,
    private readonly products: ProductsService,
    private readonly orders: SeedOrders,
  ) {}

  async fill(plan: { products: number; orders: number; seed: number }): Promise<void> {
    if ((await this.shop.get()) === DEFAULT_SHOP) await this.shop.replace(BAKERY.shop);
    if (plan.orders > 0 && hasNoPickup(await this.shop.get(), new Date()))
      throw new Error('the shop takes no orders: end its pause, add opening hours, or use --orders 0');
    const random = new Random(plan.seed);
    const products = buildCatalog(plan.products, random);
    const ids = await processWithProgress(products, 'products', async ({ pictures, ...fields }) => {
      const images = pictures.map((name) => ({ bytes: readPicture(name), format: 'jpg' }) as const);
      return (await this.products.create({ ...fields, images })).id;
    });
    await this.orders.place(plan.orders, random, ids);
    const images = products.flatMap(({ pictures }) => pictures).length;
    console.log(`added ${ids.length} products with ${images} images, and ${plan.orders} orders`);
  }
}

function parse(args: string[]): Command {
  const { values } = readArgs({
    args,
    options: {
      products: { type: 'string' },
      orders: { type: 'string' },
      seed: { type: 'string', default: '1' },
      yes: { type: 'boolean', default: false },
    },
  });
  const products = parseWholeNumber('--products', values.products, { min: 1, max: MAX_PRODUCTS });
  const orders = parseWholeNumber('--orders', values.orders ?? String(DEFAULT_ORDERS), {
    min: 0,
    max: MAX_ORDERS,
  });
  const seed = parseWholeNumber('--seed', values.seed, { min: 0, max: MAX_SEED });
  return async (env, open) => {
    const hasSimulator = env.paymentGateway === 'simulator';
    if (env.nodeEnv === 'production' && !values.yes)
      throw new Error('NODE_ENV is production: use --yes to add made-up data to production');
    if (!hasSimulator && values.orders !== undefined && orders > 0)
      throw new Error('--orders requires the payment simulator: omit it with a real payment gateway');
    const plan = { products, orders: hasSimulator ? orders : 0, seed };
    const imports = [PaymentsModule, OrdersModule, ProductsModule, ShopModule, UsersModule];
    const fill = (command: SeedCommand) => command.fill(plan);
    await withServices(SeedCommand, { imports, providers: [SeedOrders] }, fill)(env, open);
  };
}

runCommand(HELP, parse);
