import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type GoodFields, UNIQUE } from './support/hostile-bodies.js';
import { type HostileRequest, requestsWithOddFields } from './support/hostile.js';
import { makeOrder, notification } from './support/notifications.js';
import { png } from './support/pictures.js';
import { isDocumentation, type Route, routesOf } from './support/routes.js';
import { startService, type TestService } from './support/service.js';

/** The slowest part is Argon2, for the registrations that are good after all. */
const DEADLINE_MS = 120_000;
const AT_ONCE = 8;

/** The requests sign in to it. It is not the caller: each login would end the caller's session. */
const ACCOUNT = { email: 'wayan@example.com', password: 'secret' };
const CALLER_PASSWORD = 'the password of the caller';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const agent = new Agent({ keepAlive: true });
let service: TestService;
let orderId: string;
let imageName: string;
/** Cookie headers of the callers. */
let callers: Readonly<Record<'none' | 'USER' | 'ADMIN', string>>;

beforeAll(async () => {
  service = await startService();
  const customer = service.client();
  const registered = await customer.register({ password: CALLER_PASSWORD }).expect(201);
  orderId = await makeOrder(service, (registered.body as { data: { user: { id: number } } }).data.user.id);
  await service.client().register(ACCOUNT).expect(201);
  const admin = await service.admin();
  const created = await admin
    .post('/api/products')
    .field('name', 'Kue lapis')
    .field('description', 'Layers')
    .field('price', '1')
    .attach('images', png(), { filename: 'kue.png' })
    .expect(201);
  const [url = ''] = (created.body as { data: { products: { images: string[] } } }).data.products.images;
  imageName = url.split('/').at(-1) ?? '';
  callers = {
    none: '',
    USER: `accessToken=${customer.cookie('accessToken')}; refreshToken=${customer.cookie('refreshToken')}`,
    ADMIN: `accessToken=${admin.cookie('accessToken')}; refreshToken=${admin.cookie('refreshToken')}`,
  };
});

afterAll(async () => {
  agent.destroy();
  await service.stop();
});

/** What each route that has a body reads. */
function bodyOf({ method, path }: Route): { kind: 'json' | 'form' | 'none'; good: GoodFields } {
  if (method === 'get' || method === 'delete') return { kind: 'none', good: {} };
  if (path === '/api/products/payments') return { kind: 'json', good: notification({ order_id: orderId }) };
  if (path.startsWith('/api/products')) {
    const good = { name: 'Kue', description: 'Layers', price: '1000', 'images.removed[]': '' };
    return { kind: 'form', good };
  }
  const otp = '123456';
  const passwordConfirmation = ACCOUNT.password;
  if (path === '/api/orders') return { kind: 'json', good: { items: [{ product_id: 1, quantity: 2 }] } };
  if (path === '/api/otp/verify') return { kind: 'json', good: { otp } };
  if (path === '/api/users') return { kind: 'json', good: { fullname: 'Ayu', password: CALLER_PASSWORD } };
  if (path === '/api/users/password') {
    const good = { currentPassword: CALLER_PASSWORD, password: CALLER_PASSWORD };
    return { kind: 'json', good: { ...good, passwordConfirmation: CALLER_PASSWORD } };
  }
  if (path === '/api/password/forgot') return { kind: 'json', good: { email: ACCOUNT.email } };
  if (path === '/api/password/reset')
    return { kind: 'json', good: { ...ACCOUNT, otp, passwordConfirmation } };
  if (path === '/api/login') return { kind: 'json', good: ACCOUNT };
  const good = { ...ACCOUNT, email: `${UNIQUE}@example.com`, fullname: 'Ayu', passwordConfirmation };
  return { kind: 'json', good };
}

function targetOf({ path }: Route, { parameters, query }: HostileRequest): string {
  let next = 0;
  const filled = path.replaceAll(/:\w+/g, (name) => {
    const parameter = parameters[next++] ?? '1';
    // The one image that there is, or an odd name.
    return name === ':name' && parameter.length < 3 ? imageName : parameter;
  });
  return filled + query;
}

async function send(method: string, target: string, { headers, body }: HostileRequest): Promise<Answer> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, agent, method: method.toUpperCase(), path: target, headers: { ...headers } },
      (response) => {
        buffer(response).then(
          (bytes) => {
            const { statusCode = 0, headers: received } = response;
            resolve({ status: statusCode, headers: received, body: bytes.toString() });
          },
          (error: unknown) => {
            reject(error instanceof Error ? error : new Error('the answer was cut', { cause: error }));
          },
        );
      },
    );
    sent.setTimeout(10_000, () => sent.destroy(new Error('not answered within 10 s')));
    // The service may answer and hang up before a large body is through; its answer is what counts.
    sent.on('error', reject);
    sent.setHeader('Content-Length', body.length);
    sent.end(body);
  });
}

/** What is wrong with an answer; null when it is good. */
function problemOf(route: Route, { status, headers, body }: Answer): string | null {
  if (status >= 500) return 'a failure of the service';
  if (headers['x-request-id'] === undefined) return 'no X-Request-Id';
  if (status >= 400) return isFailEnvelope(body, status) ? null : 'no fail envelope';
  if (isDocumentation(route.path) || status === 304) return null;
  if (route.path === '/api/images/:name') return headers['content-type'] === 'image/png' ? null : 'no image';
  const isEmpty = status === 204 || (status === 200 && route.path === '/api/products/payments');
  if (isEmpty) return body === '' ? null : 'a body where there should be none';
  return isSuccessEnvelope(body) ? null : 'no success envelope';
}

function isFailEnvelope(body: string, status: number): boolean {
  const { status: kind, errors, ...rest } = parse(body);
  if (kind !== 'fail' || Object.keys(rest).length > 0 || !isRecord(errors)) return false;
  const { code, message, details = {}, ...others } = errors;
  return (
    code === status &&
    typeof message === 'string' &&
    message !== '' &&
    isRecord(details) &&
    Object.values(details).every((detail) => typeof detail === 'string') &&
    Object.keys(others).length === 0
  );
}

function isSuccessEnvelope(body: string): boolean {
  const { status, data, ...rest } = parse(body);
  return status === 'success' && isRecord(data) && Object.keys(rest).length === 0;
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) ? value : {};
  } catch {
    // Text that is no JSON is no envelope either.
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describeRequest(method: string, target: string, { headers, body }: HostileRequest): string {
  const shown = body.subarray(0, 2_000).toString('latin1');
  return `${method} ${target}\n${JSON.stringify(headers)}\n${JSON.stringify(shown)} (${body.length} bytes)`;
}

/** @throws Error that shows the request, when something is wrong with its answer */
async function sendAndCheck(route: Route, hostile: HostileRequest): Promise<Answer> {
  const target = targetOf(route, hostile);
  const answer = await send(route.method, target, hostile);
  const problem = problemOf(route, answer);
  if (problem === null) return answer;
  const { status, body } = answer;
  throw new Error(
    `${problem}: ${status} ${body.slice(0, 500)}\n${describeRequest(route.method, target, hostile)}`,
  );
}

describe('hostile input', () => {
  it(
    'no odd value of any one field gives a 5xx or an answer without an envelope',
    async () => {
      const requests = routesOf(service)
        .flatMap((route) =>
          requestsWithOddFields(callers.ADMIN, bodyOf(route)).map((hostile) => ({ route, hostile })),
        )
        .values();
      // Each takes the next one, so that waits for a hash or a disk overlap.
      const send = async (): Promise<void> => {
        for (const { route, hostile } of requests) await sendAndCheck(route, hostile);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, send));
      const { rows } = await service.database.pool.query(
        `SELECT count(*)::integer AS admins FROM users WHERE role = 'ADMIN'`,
      );
      expect(rows).toEqual([{ admins: 1 }]);
      expect(service.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
      expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
      await service.client().get('/api/health/ready').expect(200);
    },
    DEADLINE_MS,
  );
});
