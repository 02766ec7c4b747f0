import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../support/client.js';
import { createDatabase } from '../support/databases.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { notification } from '../support/notifications.js';
import type { OpenApi } from '../support/openapi.js';
import { gatewaySettings, orderOf } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { SERVER_KEY } from '../support/service.js';
import { expiredToken } from '../support/tokens.js';

/** Of every account, also after any change of it that a request makes: a change to the same one. */
export const PASSWORD = 'kue lapis legit';
export const STOREFRONT = 'https://shop.example';

/** Whose cookies a request carries. */
export const CALLERS = ['anonymous', 'customer', 'other', 'admin', 'expired', 'garbage'] as const;
export type Caller = (typeof CALLERS)[number];

/** The built service as a process, and what there is for requests to name. */
export interface World {
  readonly service: ServiceProcess;
  readonly document: OpenApi;
  /** Cookie headers. */
  readonly cookies: Readonly<Record<Caller, string>>;
  /** Values of what exists, by the name of a parameter or field. */
  readonly known: Readonly<Record<string, readonly unknown[]>>;
  readonly close: () => Promise<void>;
}

export async function openWorld(): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bakery-random-'));
  const gateway = await MidtransStandIn.start({ serverKey: SERVER_KEY });
  const database = await createDatabase();
  const service = await startServiceProcess({
    ...gatewaySettings(gateway),
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    PUBLIC_URL: 'http://bakery.test',
    CORS_ORIGINS: STOREFRONT,
    TRUSTED_PROXIES: '1',
  });

  const email = 'customer@example.com';
  const [customer, other] = [service.client(), service.client()];
  await customer.register({ email, password: PASSWORD }).expect(201);
  await other.register({ email: 'other@example.com', password: PASSWORD }).expect(201);
  const admin = await service.admin();
  const products = [];
  for (let n = 0; n < 6; n += 1)
    products.push(await createProduct(admin, [{ name: 'kue.png', bytes: png(n) }]));
  const orders: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const items = [{ product_id: products[0]?.id, quantity: n + 1 }];
    orders.push(orderOf(await customer.post('/api/orders').send({ items }).expect(201)).order_id);
  }
  const document = (await service.client().get('/api/docs-json').expect(200)).body as OpenApi;
  const session = (client: Client): string =>
    `accessToken=${client.cookie('accessToken')}; refreshToken=${client.cookie('refreshToken')}`;

  return {
    service: { ...service, database },
    document,
    cookies: {
      anonymous: '',
      customer: session(customer),
      other: session(other),
      admin: session(admin),
      expired: `accessToken=${expiredToken()}; refreshToken=${expiredToken()}`,
      garbage: 'accessToken=a.b.c; refreshToken=not-a-token',
    },
    known: knownValues(
      email,
      products.map(({ id }) => id),
      products[0]?.images[0] ?? '',
      orders,
    ),
    close: async () => {
      await service.stop();
      await database.drop();
      await gateway.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function knownValues(
  email: string,
  products: readonly number[],
  imageUrl: string,
  orders: readonly string[],
): World['known'] {
  const { signature_key: _, order_id: __, transaction_status: ___, ...gateway } = notification();
  return {
    ...Object.fromEntries(Object.entries(gateway).map(([name, value]) => [name, [value]])),
    email: [email],
    password: [PASSWORD],
    currentPassword: [PASSWORD],
    passwordConfirmation: [PASSWORD],
    otp: ['123456'],
    product_id: products,
    order_id: orders,
    name: [imageUrl.split('/').at(-1)],
    'images.removed[]': ['', imageUrl],
  };
}
