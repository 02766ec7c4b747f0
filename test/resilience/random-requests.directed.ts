import { randomUUID } from 'node:crypto';
import { rename as move, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../support/client.js';
import { filePart, FORM_TYPE, formOf } from '../support/hostile-bodies.js';
import type { HostileRequest } from '../support/hostile.js';
import { notification } from '../support/notifications.js';
import { orderOf } from '../support/orders.js';
import { padded, png } from '../support/pictures.js';
import { CAKE, createProduct } from '../support/products.js';
import { until } from '../support/wait.js';
import type { Target } from './random-requests.generators.js';
import { PASSWORD, type World } from './random-requests.world.js';

const UNKNOWN_PRODUCT = 2 ** 31 - 1;
const TOO_LARGE_JSON = 110 * 1024;
const TOO_LARGE_FILE = 5 * 1024 * 1024 + 1;

/** Documented, as for every operation, yet no fault brings them about: no database is asked and nothing can fail. */
export const FAULTLESS: readonly string[] = [
  'GET /api/health/live 500',
  'GET /api/health/live 503',
  'GET /api/images/{name} 503',
  'GET /api/users 500',
  'GET /api/users 503',
];

/** What of a request differs from one without cookie, body and parameters. */
interface Parts {
  readonly parameters?: readonly unknown[];
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly file?: Buffer;
}

function request(
  cookie: string,
  { parameters = [], query = '', headers = {}, ...parts }: Parts = {},
): HostileRequest {
  const { json, form, file } = parts;
  const type = form === undefined ? (json === undefined ? undefined : 'application/json') : FORM_TYPE;
  return {
    parameters: parameters.map(String),
    query,
    headers: {
      ...(cookie !== '' && { Cookie: cookie }),
      ...(type !== undefined && { 'Content-Type': type }),
      ...headers,
    },
    body:
      form === undefined
        ? Buffer.from(json === undefined ? '' : JSON.stringify(json))
        : Buffer.concat([...(file === undefined ? [] : [filePart('kue.png', file)]), formOf(form)]),
  };
}

function accessOf(client: Client): string {
  return `accessToken=${client.cookie('accessToken')}`;
}

const passwords = { password: PASSWORD, passwordConfirmation: PASSWORD };

/** An order of the customer that is still pending. */
async function newOrder({ clients, known }: World): Promise<string> {
  const items = [{ product_id: known.product_id?.[0], quantity: 1 }];
  // The shared client: products may have been deleted by other requests meanwhile.
  const { id } = await createProduct(clients.admin);
  const [item] = items;
  const answer = await clients.customer
    .post('/api/orders')
    .send({ items: [{ ...item, product_id: id }] })
    .expect(201);
  return orderOf(answer).order_id;
}

/** A request to each operation that must succeed. */
const GOOD: Readonly<Record<string, (world: World) => Promise<HostileRequest> | HostileRequest>> = {
  'POST /api/register': () =>
    request('', { json: { email: `${randomUUID()}@example.com`, fullname: 'Ayu', ...passwords } }),
  'POST /api/login': async ({ register }) => {
    const { email } = await register();
    return request('', { json: { email, password: PASSWORD } });
  },
  'GET /api/refresh': async ({ register }) => {
    const { client } = await register();
    return request(`refreshToken=${client.cookie('refreshToken')}`);
  },
  'POST /api/logout': async ({ register }) => request(accessOf((await register()).client)),
  'POST /api/otp': async ({ register }) => request(accessOf((await register()).client)),
  'POST /api/otp/verify': async ({ register, codeTo }) => {
    const { client, email } = await register();
    return request(accessOf(client), { json: { otp: await codeTo(email, 'Your verification code') } });
  },
  'GET /api/users': ({ cookies }) => request(cookies.customer),
  'PATCH /api/users': async ({ register }) =>
    request(accessOf((await register()).client), { json: { fullname: 'Ayu W.' } }),
  'PUT /api/users/password': async ({ register }) =>
    request(accessOf((await register()).client), { json: { currentPassword: PASSWORD, ...passwords } }),
  'POST /api/password/forgot': async ({ register }) => {
    const { email } = await register();
    return request('', { json: { email } });
  },
  'POST /api/password/reset': async ({ register, codeTo }) => {
    const { client, email } = await register();
    await client.post('/api/password/forgot').send({ email }).expect(204);
    const otp = await codeTo(email, 'Your password reset code');
    return request('', { json: { email, otp, ...passwords } });
  },
  'GET /api/products': ({ cookies }) => request(cookies.customer),
  'GET /api/products/{product_id}': async ({ cookies, clients }) =>
    request(cookies.customer, { parameters: [(await createProduct(clients.admin)).id] }),
  'POST /api/products': ({ cookies }) => request(cookies.admin, { form: CAKE, file: png('good') }),
  'PUT /api/products/{product_id}': async ({ cookies, clients }) =>
    request(cookies.admin, {
      parameters: [(await createProduct(clients.admin)).id],
      form: { ...CAKE, 'images.removed[]': '' },
    }),
  'DELETE /api/products/{product_id}': async ({ cookies, clients }) =>
    request(cookies.admin, { parameters: [(await createProduct(clients.admin)).id] }),
  'GET /api/images/{name}': async ({ clients }) => {
    const { images } = await createProduct(clients.admin, [{ name: 'kue.png', bytes: png('shown') }]);
    return request('', { parameters: [images[0]?.split('/').at(-1)] });
  },
  'POST /api/orders': async ({ cookies, clients }) =>
    request(cookies.customer, {
      json: { items: [{ product_id: (await createProduct(clients.admin)).id, quantity: 1 }] },
    }),
  'GET /api/orders': ({ cookies }) => request(cookies.customer),
  'GET /api/orders/{order_id}': ({ cookies, known }) =>
    request(cookies.customer, { parameters: [known.order_id?.[0]] }),
  'POST /api/orders/{order_id}/token': async (world) =>
    request(world.cookies.customer, { parameters: [await newOrder(world)] }),
  'POST /api/orders/{order_id}/cancel': async (world) =>
    request(world.cookies.customer, { parameters: [await newOrder(world)] }),
  'GET /api/admin/orders': ({ cookies }) => request(cookies.admin),
  'GET /api/admin/orders/{order_id}': ({ cookies, known }) =>
    request(cookies.admin, { parameters: [known.order_id?.[0]] }),
  'POST /api/products/payments': async (world) => {
    const orderId = await newOrder(world);
    return request('', { json: notification({ order_id: orderId }) });
  },
  'GET /api/health/live': () => request(''),
  'GET /api/health/ready': () => request(''),
};

/** Refusals that no change of a good request brings about by itself. */
const REFUSED: Readonly<Record<string, (world: World) => Promise<HostileRequest[]> | HostileRequest[]>> = {
  'POST /api/register': async ({ register }) => {
    const { email } = await register();
    return [request('', { json: { email, fullname: 'Ayu', ...passwords } })];
  },
  'PATCH /api/users': async ({ register }) => {
    const [{ client }, { email }] = [await register(), await register()];
    return [request(accessOf(client), { json: { email, password: PASSWORD } })];
  },
  'GET /api/products': ({ cookies }) => [request(cookies.customer, { query: `?last_id=${UNKNOWN_PRODUCT}` })],
  'POST /api/orders': async ({ cookies, clients }) => {
    const { id } = await createProduct(clients.admin);
    const headers = { 'Idempotency-Key': randomUUID() };
    const order = (productId: number, quantity: number): HostileRequest =>
      request(cookies.customer, { headers, json: { items: [{ product_id: productId, quantity }] } });
    return [
      order(id, 1),
      order(id, 2),
      { ...order(UNKNOWN_PRODUCT, 1), headers: { ...order(id, 1).headers, 'Idempotency-Key': randomUUID() } },
    ];
  },
  'GET /api/orders': async ({ register }) => [request(accessOf((await register()).client))],
  'GET /api/admin/orders': ({ cookies, known }) => [
    request(cookies.admin, { query: `?last_id=${String(known.order_id?.[0])}` }),
  ],
  'POST /api/orders/{order_id}/token': async (world) => endedOrder(world),
  'POST /api/orders/{order_id}/cancel': async (world) => endedOrder(world),
  'POST /api/products/payments': () => [
    request('', { json: notification() }),
    request('', { json: { ...notification(), signature_key: '0'.repeat(128) } }),
  ],
};

async function endedOrder(world: World): Promise<HostileRequest[]> {
  const orderId = await newOrder(world);
  await world.clients.customer.post(`/api/orders/${orderId}/cancel`).expect(200);
  return [request(world.cookies.customer, { parameters: [orderId] })];
}

/** A good request to an operation. @throws Error for one that nobody has told us how to please */
export async function goodRequest({ name }: Target, world: World): Promise<HostileRequest> {
  const make = GOOD[name];
  if (make === undefined) throw new Error(`there is no good request to ${name}`);
  return make(world);
}

/** Requests that reach every documented status of an operation that needs no fault. */
export async function completions(target: Target, world: World): Promise<HostileRequest[]> {
  const good = await goodRequest(target, world);
  const { Cookie: _, ...withoutCookie } = good.headers;
  const has = (status: number): boolean => target.operation.responses[status] !== undefined;
  const headers = (extra: Record<string, string>): HostileRequest => ({
    ...good,
    headers: { ...good.headers, ...extra },
  });
  return [
    ...(has(401) ? [{ ...good, headers: withoutCookie }] : []),
    ...(has(400) ? [headers({ Cookie: 'accessToken=a.b.c' }), { ...good, body: Buffer.from('{') }] : []),
    ...(has(403)
      ? [headers({ Cookie: world.cookies.other }), headers({ Origin: 'https://evil.example' })]
      : []),
    ...(has(404) && good.parameters.length > 0
      ? [{ ...good, parameters: ['00000000-0000-4000-8000-000000000000'] }]
      : []),
    ...(has(400) && good.parameters.length > 0 ? [{ ...good, parameters: ['%ff'] }] : []),
    ...(has(413) ? [tooLarge(target, good)] : []),
    ...(has(415) ? [headers({ 'Content-Encoding': 'a lie' })] : []),
    ...(has(304) ? [headers({ 'If-None-Match': '*' })] : []),
    ...((await REFUSED[target.name]?.(world)) ?? []),
    // Last: it may use up what it names.
    good,
  ];
}

function tooLarge({ kind }: Target, good: HostileRequest): HostileRequest {
  const body =
    kind === 'json'
      ? Buffer.from(JSON.stringify({ text: 'x'.repeat(TOO_LARGE_JSON) }))
      : Buffer.concat([filePart('kue.png', padded(png(), TOO_LARGE_FILE)), formOf(CAKE)]);
  return { ...good, body };
}

type Send = (target: Target, request: HostileRequest) => Promise<number>;

/** Good requests to every operation while the gateway, the database or the tables are away. */
export async function withFaults(world: World, targets: readonly Target[], send: Send): Promise<void> {
  const { gateway, proxy, service } = world;
  const prepared: [Target, HostileRequest][] = [];
  for (const target of targets) prepared.push([target, await goodRequest(target, world)]);
  // Nothing answered from memory: what is kept of the product list goes with a change.
  const forget = () => service.database.pool.query('UPDATE products SET name = name');

  for (const operation of ['create', 'cancel', 'status', 'expire'] as const)
    gateway.fault({ operation, kind: 'down' });
  for (const [target, request] of prepared) {
    if (target.operation.responses[502] !== undefined)
      await send(target, await withoutPage(world, target, request));
  }
  gateway.clearFaults();
  await withBrokenFolder(world, prepared, send);

  await forget();
  await proxy.down();
  try {
    for (const [target, request] of prepared) await send(target, request);
  } finally {
    await proxy.up();
  }
  await until('it is ready again', async () => (await fetch(`${service.url}/api/health/ready`)).ok);

  const { rows } = await service.database.pool.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  const rename = async (to: (name: string) => string): Promise<void> => {
    for (const { name } of rows) await service.database.pool.query(to(name));
  };
  await forget();
  await rename((name) => `ALTER TABLE ${name} RENAME TO ${name}_away`);
  try {
    for (const [target, request] of prepared) await send(target, request);
    const list = prepared.find(([{ name }]) => name === 'GET /api/products');
    if (list !== undefined)
      await until('no page is in memory', async () => (await send(...list)) === 500, 5_000);
  } finally {
    await rename((name) => `ALTER TABLE ${name}_away RENAME TO ${name}`);
  }
}

/** The folder of the picture leads to itself. */
async function withBrokenFolder(
  { dataDir }: World,
  prepared: readonly [Target, HostileRequest][],
  send: Send,
): Promise<void> {
  const shown = prepared.find(([{ name }]) => name === 'GET /api/images/{name}');
  if (shown === undefined) throw new Error('there is no picture to show');
  const folder = join(dataDir, 'images', (shown[1].parameters[0] ?? '').slice(0, 2));
  await move(folder, `${folder}-away`);
  try {
    await symlink(folder, folder);
    await send(...shown);
  } finally {
    await rm(folder, { force: true });
    await move(`${folder}-away`, folder);
  }
}

/** An order that has no payment page yet is one that the gateway must be asked for. */
async function withoutPage(world: World, { name }: Target, request: HostileRequest): Promise<HostileRequest> {
  if (name !== 'POST /api/orders/{order_id}/token') return request;
  const [orderId] = request.parameters;
  await world.service.database.pool.query(
    'UPDATE payment_attempts SET token = NULL, redirect_url = NULL, expires_at = NULL, claimed_at = NULL WHERE order_id = $1',
    [orderId],
  );
  return request;
}
