import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  asForm,
  type BakeryClient,
  type BakeryClientOptions,
  BakeryFailure,
  createBakeryClient,
  dataOf,
  type Send,
} from '../../client/bakery-client.js';
import { png } from '../support/pictures.js';
import { ADMIN, startService, type TestService } from '../support/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** Creates a client for Node that stores cookies like a browser, and records its calls. */
class Caller {
  readonly calls: string[] = [];
  signedOut = 0;
  readonly client: BakeryClient;
  readonly #cookies = new Map<string, { value: string; path: string }>();

  constructor(options: Partial<BakeryClientOptions> = {}) {
    this.client = createBakeryClient({
      baseUrl: service.url,
      fetch: this.send,
      onSignedOut: () => (this.signedOut += 1),
      ...options,
    });
  }

  readonly send: Send = async (request) => {
    const { pathname } = new URL(request.url);
    const cookies = [...this.#cookies].filter(([, { path }]) => pathname.startsWith(path));
    if (request.credentials === 'include')
      request.headers.set('Cookie', cookies.map(([name, { value }]) => `${name}=${value}`).join('; '));
    const answer = await fetch(request);
    this.calls.push(`${request.method} ${pathname} ${answer.status}`);
    for (const header of answer.headers.getSetCookie()) {
      const [, name = '', value = '', path = '/'] = /^([^=]+)=([^;]*).*?; Path=([^;]+)/.exec(header) ?? [];
      this.setCookie(name, value, path);
    }
    return answer;
  };

  setCookie(name: string, value: string, path = '/'): void {
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path });
  }

  forget(...names: readonly string[]): void {
    for (const name of names) this.#cookies.delete(name);
    this.calls.length = 0;
  }
}

let customers = 0;

async function customer(options: Partial<BakeryClientOptions> = {}): Promise<Caller> {
  const caller = new Caller(options);
  customers += 1;
  const password = 'correct horse';
  const body = {
    email: `client-${customers}@example.com`,
    fullname: 'Ayu',
    password,
    passwordConfirmation: password,
  };
  await dataOf(caller.client.POST('/api/register', { body }));
  return caller;
}

async function admin(): Promise<Caller> {
  const caller = new Caller();
  await dataOf(caller.client.POST('/api/login', { body: ADMIN }));
  return caller;
}

describe('the types', () => {
  it('match the running service', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/print-openapi.mjs']);
    const { servers: _printed, ...printed } = JSON.parse(stdout) as { servers: unknown };
    const response = await service.client().get('/api/docs-json').expect(200);
    const { servers: _served, ...served } = response.body as { servers: unknown };
    expect(printed).toEqual(served);
    await promisify(execFile)(process.execPath, ['scripts/client.mjs', '--check']);
  });
});

describe('calls', () => {
  it('send a typed body or form and get a typed response', async () => {
    const { client } = await admin();
    const images = [new File([png('client')], 'a.png'), new File([png('other')], 'b.png')];
    const values = { name: 'Roti', description: 'From today', price: '12000' };
    const body = { ...values, images };
    const { products } = await dataOf(client.POST('/api/products', { body, bodySerializer: asForm }));
    expect(products).toMatchObject({ name: 'Roti', price: 12_000 });
    expect(products.images).toHaveLength(2);

    const updated = await dataOf(
      client.PUT('/api/products/{product_id}', {
        params: { path: { product_id: products.id } },
        body: { ...values, 'images.removed[]': products.images.slice(0, 1) },
        bodySerializer: asForm,
      }),
    );
    expect(updated.products.images).toEqual(products.images.slice(1));
    const params = { path: { product_id: products.id } };
    // An empty list is sent as one empty value (contract 4.7).
    const none = { ...values, 'images.removed[]': [] };
    await dataOf(client.PUT('/api/products/{product_id}', { params, body: none, bodySerializer: asForm }));
    expect((await client.DELETE('/api/products/{product_id}', { params })).response.status).toBe(204);
  });

  it('fail with the status, the message, the fields and the request id (contract 2.4)', async () => {
    const { client } = new Caller();
    const { error } = await client.POST('/api/login', { body: { email: 'nonsense', password: '' } });
    expect(error?.errors).toEqual({
      code: 400,
      message: 'validation error',
      details: { email: 'your email format is invalid', password: 'password is required' },
    });
    const thrown = dataOf(client.POST('/api/login', { body: { email: 'nonsense', password: 'x' } }));
    await expect(thrown).rejects.toThrow(BakeryFailure);
    await expect(thrown).rejects.toMatchObject({
      code: 400,
      message: 'validation error',
      details: { email: 'your email format is invalid' },
      requestId: expect.any(String) as string,
    });
  });

  it('fail in the same way if a proxy responds with an HTML page', async () => {
    const fetch: Send = () => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }));
    const { client } = new Caller({ fetch });
    await expect(dataOf(client.GET('/api/products'))).rejects.toMatchObject({ code: 502, details: {} });
  });
});

describe('refresh and repeat', () => {
  it.each([
    ['', 401],
    ['nonsense', 400],
  ])(
    'with the access token "%s" a call is repeated after a refresh, with its body',
    async (token, status) => {
      const caller = await customer();
      caller.setCookie('accessToken', token);
      const { user } = await dataOf(caller.client.PATCH('/api/users', { body: { fullname: 'Ayu Lestari' } }));
      expect(user.fullname).toBe('Ayu Lestari');
      expect(caller.calls.slice(-3)).toEqual([
        `PATCH /api/users ${status}`,
        'GET /api/refresh 200',
        'PATCH /api/users 200',
      ]);
    },
  );

  it('concurrent calls with an expired token cause one refresh', async () => {
    const caller = await customer();
    caller.forget('accessToken');
    const both = [caller.client.GET('/api/users'), caller.client.GET('/api/users')];
    expect((await Promise.all(both)).map(({ response }) => response.status)).toEqual([200, 200]);
    expect(caller.calls.filter((call) => call.startsWith('GET /api/refresh'))).toHaveLength(1);
    expect(caller.calls).toHaveLength(5);
  });

  it('the end of the session is reported once, and each call fails with 401', async () => {
    const caller = await customer();
    caller.forget('accessToken', 'refreshToken');
    const answers = await Promise.all([caller.client.GET('/api/users'), caller.client.POST('/api/otp')]);
    const messages = answers.map(({ error }) => error?.errors.message);
    expect(new Set(messages)).toEqual(new Set(['access token missing or expired']));
    expect(caller.signedOut).toBe(1);
    expect(caller.calls).toHaveLength(3);
  });

  it('a call is retried only once after a refresh', async () => {
    let calls = 0;
    const fetch: Send = (request) => {
      calls += 1;
      return Promise.resolve(new Response('{}', { status: request.url.endsWith('/refresh') ? 200 : 401 }));
    };
    const caller = new Caller({ fetch });
    expect((await caller.client.GET('/api/users')).response.status).toBe(401);
    expect(calls).toBe(3);
    expect(caller.signedOut).toBe(0);
  });

  it('a refresh that fails for another reason fails the call and does not end the session', async () => {
    const caller = await customer();
    let signedOut = 0;
    const client = createBakeryClient({
      baseUrl: service.url,
      onSignedOut: () => (signedOut += 1),
      fetch: (request) => {
        if (!request.url.endsWith('/api/refresh')) return caller.send(request);
        const body = { status: 'fail', errors: { code: 503, message: 'away' } };
        return Promise.resolve(Response.json(body, { status: 503 }));
      },
    });
    caller.forget('accessToken');
    const calls = [dataOf(client.GET('/api/users')), dataOf(client.GET('/api/users'))];
    for (const result of await Promise.allSettled(calls))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 503, message: 'away' } });
    expect(signedOut).toBe(0);
  });
});
