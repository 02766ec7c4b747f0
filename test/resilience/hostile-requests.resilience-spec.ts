import { Pool } from 'undici';
import { PASSWORD } from '../support/accounts.js';
import type { Client } from '../support/client.js';
import { readOpenApi } from '../support/openapi.js';
import { placeOrder } from '../support/orders.js';
import { createPictures, createProduct } from '../support/products.js';
import { useServiceProcess } from '../support/service-process.js';
import { stopAfterUse } from '../support/stop-after-use.js';
import { inParallel } from '../support/wait.js';
import {
  type BuiltRequest,
  buildRequests,
  type DocumentedOperation,
  listOperations,
} from './hostile-requests.requests.js';
import { listViolations } from './hostile-requests.responses.js';
import type { StoredValues } from './hostile-requests.values.js';

const CONCURRENCY = 8;
/** Long enough for several Argon2 hashes at once on a busy machine. */
const DEADLINE_MS = 15_000;

// As behind a proxy: image URLs have another origin than the requests, and X-Forwarded-For is trusted.
const service = await useServiceProcess({ PUBLIC_URL: 'http://bakery.test', TRUSTED_PROXIES: '1' });
// With `pipelining: 0`, each request has its own connection: a request on an idle connection fails if the service closes the
// connection at that moment.
const options = { pipelining: 0, headersTimeout: DEADLINE_MS, bodyTimeout: DEADLINE_MS };
const connections = await stopAfterUse(new Pool(service.url, options), (pool) => pool.destroy());
let operations: DocumentedOperation[];
/** Cookie headers by user. */
let cookies: Readonly<Record<'customer' | 'admin', string>>;
let stored: StoredValues;

beforeAll(async () => {
  const [customer, other] = [service.client(), service.client()];
  await customer.register({ email: 'customer@example.com', password: PASSWORD }).expect(201);
  await other.register({ email: 'other@example.com', password: PASSWORD }).expect(201);
  const admin = await service.admin();
  const ids: number[] = [];
  for (let n = 0; n < 9; n += 1) ids.push((await createProduct(admin)).id); // Requests delete some of these products.
  const { id, images } = await createProduct(admin, createPictures(1));
  const orders = await inParallel(4, (n) => placeOrder(customer, [{ product_id: id, quantity: n + 1 }]));
  const [image = ''] = images;
  operations = listOperations(await readOpenApi(service));
  cookies = { customer: cookiesOf(customer), admin: cookiesOf(admin) };
  stored = {
    email: ['other@example.com'],
    password: [PASSWORD],
    currentPassword: [PASSWORD],
    passwordConfirmation: [PASSWORD],
    product_id: [...ids, id],
    order_id: orders.map(({ order_id }) => order_id),
    name: [image.split('/').at(-1)], // of GET /api/images/{name}
    'images.removed[]': ['', image],
  };
});

const cookiesOf = (client: Client): string =>
  `accessToken=${client.cookie('accessToken')}; refreshToken=${client.cookie('refreshToken')}`;

/** Returns the status of the response. If the response is not as documented, throws Error that shows the request. */
async function sendAndCheck(operation: DocumentedOperation, request: BuiltRequest): Promise<number> {
  const { statusCode, headers, body } = await connections.request(request);
  const response = { status: statusCode, headers, body: await body.text() };
  const violations = listViolations(operation, response);
  if (violations.length === 0) return response.status;
  const shown = { ...request, body: request.body.toString('latin1').slice(0, 2_000) };
  throw new Error(
    `${violations.join('; ')}: ${response.status} ${response.body.slice(0, 500)}\n${JSON.stringify(shown)}`,
  );
}

async function forEachConcurrently<T>(list: readonly T[], work: (item: T) => Promise<unknown>) {
  const items = list.values();
  const worker = async (): Promise<void> => {
    for (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

describe('requests derived from the OpenAPI document', () => {
  it('get no 5xx and no undocumented response if they are valid, or if one field or parameter has a wrong value', async () => {
    const requests = operations.flatMap((operation) => {
      const cookie = cookies[/\/(products|admin)/.test(operation.name) ? 'admin' : 'customer'];
      // These operations need a new email address. The other operations need an existing address.
      const isNewEmail = ['POST /api/register', 'PATCH /api/users'].includes(operation.name);
      const { email, ...others } = stored;
      const values = isNewEmail ? others : { ...others, email: email ?? [] };
      return buildRequests(operation, cookie, values).map((request) => [operation, request] as const);
    });
    expect(requests.length).toBeGreaterThan(1_000);
    const accepted = new Set<string>();
    await forEachConcurrently(requests, async ([operation, request]) => {
      if ((await sendAndCheck(operation, request)) < 400) accepted.add(operation.name);
    });
    // If validation rejected all requests, the test would not reach the code behind the validation.
    expect(accepted.size).toBeGreaterThan(operations.length / 2);
  });

  it('create no further administrator and leave the service ready, and its log contains only JSON lines and no error', async () => {
    const rows = await service.database.query("SELECT FROM users WHERE role = 'ADMIN'");
    expect(rows).toHaveLength(1);
    const lines = service.output().trimEnd().split('\n');
    const isExpected = (line: string) =>
      ['info', 'warn'].includes(String((JSON.parse(line) as { level: unknown }).level));
    expect(lines.filter((line) => !isExpected(line))).toEqual([]);
    expect((await fetch(`${service.url}/api/health/ready`)).status).toBe(200);
  });
});
