import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import type { Client } from '../support/client.js';
import { buildNotification, NOTIFICATION_FIELDS } from '../support/notifications.js';
import { documentOf } from '../support/openapi.js';
import { placeOrder } from '../support/orders.js';
import { png } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { expiredToken } from '../support/tokens.js';
import { closeConnections, Judge, send } from './random-requests.judge.js';
import {
  hostileRequests,
  type RandomRequest,
  requestsWithOneWrongValue,
  type Target,
  targetsOf,
  validRequests,
  type World,
} from './random-requests.requests.js';
import { isLongForm } from './support/long-form.js';

/** A failure names it. */
const SEED = Number(process.env.RESILIENCE_SEED ?? randomInt(1_000_000));
/** For each operation. */
const REQUESTS = isLongForm ? 400 : 25;
const AT_ONCE = 8;
const PASSWORD = 'kue lapis legit';

let service: ServiceProcess;
let judge: Judge;
let targets: Target[];
let world: World;

beforeAll(async () => {
  service = await startServiceProcess({ PUBLIC_URL: 'http://bakery.test', TRUSTED_PROXIES: '1' });
  const [customer, other] = [service.client(), service.client()];
  await customer.register({ email: 'customer@example.com', password: PASSWORD }).expect(201);
  await other.register({ email: 'other@example.com', password: PASSWORD }).expect(201);
  const admin = await service.admin();
  const products = [];
  for (let n = 0; n < 10; n += 1)
    products.push(await createProduct(admin, [{ name: 'kue.png', bytes: png(n) }]));
  const ids = products.map(({ id }) => id);
  const orders = await Promise.all(
    [1, 2, 3, 4].map((quantity) => placeOrder(customer, [{ product_id: ids[0] ?? 0, quantity }])),
  );
  const [image = ''] = products[0]?.images ?? [];
  const document = await documentOf(service);
  targets = targetsOf(document);
  judge = new Judge(document);
  const payment = buildNotification();
  world = {
    cookies: {
      anonymous: '',
      customer: session(customer),
      admin: session(admin),
      expired: `accessToken=${expiredToken()}; refreshToken=${expiredToken()}`,
      garbage: 'accessToken=a.b.c; refreshToken=not-a-token',
    },
    known: {
      ...Object.fromEntries(NOTIFICATION_FIELDS.map((name) => [name, [payment[name]]])),
      transaction_status: [],
      email: ['other@example.com'],
      password: [PASSWORD],
      currentPassword: [PASSWORD],
      passwordConfirmation: [PASSWORD],
      otp: ['123456'],
      product_id: ids,
      order_id: orders.map(({ order_id }) => order_id),
      name: [image.split('/').at(-1)],
      'images.removed[]': ['', image],
    },
  };
});

afterAll(async () => {
  closeConnections();
  await service.stop();
});

const session = (client: Client): string =>
  `accessToken=${client.cookie('accessToken')}; refreshToken=${client.cookie('refreshToken')}`;

/** @returns whether it was accepted @throws Error that shows the request, when its answer is not as documented */
async function sendAndJudge(target: Target, request: RandomRequest): Promise<boolean> {
  const answer = await send(service.url, request);
  const problems = judge.problemsWith(target, answer);
  if (problems.length === 0) return answer.status < 400;
  const shown = { ...request, body: request.body.toString('latin1').slice(0, 2_000) };
  throw new Error(
    `${problems.join('; ')}: ${answer.status} ${answer.body.slice(0, 500)}\n${JSON.stringify(shown)}`,
  );
}

/** Works through a list, several at a time. */
async function forEach<T>(list: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const items = list.values();
  const take = async (): Promise<void> => {
    for (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}

describe('requests derived from the OpenAPI document', () => {
  it('get no 5xx and no undocumented response if one field or parameter has a wrong value', async () => {
    const requests = targets.flatMap((target) =>
      requestsWithOneWrongValue(target, world, SEED).map((request) => [target, request] as const),
    );
    expect(requests.length).toBeGreaterThan(1_000);
    await forEach(requests, ([target, request]) => sendAndJudge(target, request));
  });

  it.each([
    ['valid', validRequests, 1 / 4],
    ['hostile', hostileRequests, 1 / 30],
  ])('get no 5xx and no undocumented response if they are %s random requests', async (_kind, make, least) => {
    let accepted = 0;
    // fast-check shrinks a failing request and prints the seed to reproduce it.
    await forEach(targets, (target) =>
      fc.assert(
        fc.asyncProperty(make(target, world), async (request) => {
          if (await sendAndJudge(target, request)) accepted += 1;
        }),
        { numRuns: REQUESTS, seed: SEED },
      ),
    );
    // If validation rejected all requests, the test would not reach the code behind it.
    expect(accepted).toBeGreaterThan(REQUESTS * targets.length * least);
  });

  it('create no administrator and cause no error and no foreign line in the log', async () => {
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS admins FROM users WHERE role = 'ADMIN'`,
    );
    expect(rows).toEqual([{ admins: 1 }]);
    const lines = service.output().split('\n').slice(0, -1);
    const levels = lines.map((line) => (JSON.parse(line) as { level: unknown }).level);
    expect(lines.filter((_, index) => !['info', 'warn'].includes(String(levels[index])))).toEqual([]);
    expect((await fetch(`${service.url}/api/health/ready`)).status).toBe(200);
  });
});
