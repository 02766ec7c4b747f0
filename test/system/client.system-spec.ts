import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
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
import { sizedImage } from '../../client/images.js';
import { createPng } from '../support/pictures.js';
import { ADMIN, useService } from '../support/service.js';

const service = await useService();

/** Client that handles cookies, which `fetch` of Node does not, and records its calls: `GET /api/users 200`. */
class RecordingClient {
  readonly calls: string[] = [];
  signedOutCount = 0;
  readonly client: BakeryClient;
  readonly #cookies = new Map<string, string>();

  constructor(options: Partial<BakeryClientOptions> = {}) {
    this.client = createBakeryClient({
      baseUrl: service.url,
      fetch: this.send,
      onSignedOut: () => (this.signedOutCount += 1),
      ...options,
    });
  }

  readonly send: Send = async (request) => {
    const { pathname } = new URL(request.url);
    const cookies = [...this.#cookies].map((cookie) => cookie.join('='));
    if (request.credentials === 'include') request.headers.set('Cookie', cookies.join('; '));
    const response = await fetch(request);
    this.calls.push(`${request.method} ${pathname} ${response.status}`);
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      this.setCookie(name, value);
    }
    return response;
  };

  setCookie(name: string, value: string): void {
    if (value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

async function registerCustomer(): Promise<RecordingClient> {
  const customer = new RecordingClient();
  const email = `${randomUUID()}@example.com`;
  const body = { email, fullname: 'Ayu', password: 'correct horse', passwordConfirmation: 'correct horse' };
  await dataOf(customer.client.POST('/api/register', { body }));
  return customer;
}

it('the document from which the types of the client are generated is the document that the service serves', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/print-openapi.mjs']);
  const response = await service.client().get('/api/docs-json').expect(200);
  expect(JSON.parse(stdout)).toEqual(response.body);
});

describe('calls of the client', () => {
  it('send a typed body or form and get a typed response', async () => {
    const { client } = new RecordingClient();
    await dataOf(client.POST('/api/login', { body: ADMIN }));
    const images = [new File([createPng('client')], 'a.png'), new File([createPng('other')], 'b.png')];
    const values = { name: 'Roti', description: 'From today', price: '12000' };
    const body = { ...values, images };
    const { products } = await dataOf(client.POST('/api/products', { body, bodySerializer: asForm }));
    expect(products).toMatchObject({ name: 'Roti', price: 12_000 });
    expect(products.images).toHaveLength(2);

    const params = { path: { product_id: products.id } };
    for (const removed of [products.images.slice(0, 1), []]) {
      // The client sends an empty list as one empty value (contract 4.7).
      const change = { params, body: { ...values, 'images.removed[]': removed }, bodySerializer: asForm };
      const updated = await dataOf(client.PUT('/api/products/{product_id}', change));
      expect(updated.products.images).toEqual(products.images.slice(1));
    }
    expect((await client.DELETE('/api/products/{product_id}', { params })).response.status).toBe(204);
  });

  it('fail with the status, the message, the fields and the request id (contract 2.4)', async () => {
    const { client } = new RecordingClient();
    const thrown = dataOf(client.POST('/api/login', { body: { email: 'nonsense', password: '' } }));
    await expect(thrown).rejects.toThrow(BakeryFailure);
    await expect(thrown).rejects.toMatchObject({
      code: 400,
      message: 'validation error',
      details: { email: 'your email format is invalid', password: 'password is required' },
      requestId: expect.any(String) as string,
    });
  });

  it('fail with the status if a proxy responds with an HTML page', async () => {
    const fetch: Send = () => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 }));
    const { client } = new RecordingClient({ fetch });
    await expect(dataOf(client.GET('/api/products'))).rejects.toMatchObject({ code: 502, details: {} });
  });
});

describe('the client', () => {
  it.each([
    ['missing', '', 401],
    ['malformed', 'nonsense', 400],
  ])('refreshes a %s access token and repeats the call with the same body', async (_title, token, status) => {
    const customer = await registerCustomer();
    customer.setCookie('accessToken', token);
    const { user } = await dataOf(customer.client.PATCH('/api/users', { body: { fullname: 'Ayu Lestari' } }));
    expect(user.fullname).toBe('Ayu Lestari');
    expect(customer.calls.slice(-3)).toEqual([
      `PATCH /api/users ${status}`,
      'GET /api/refresh 200',
      'PATCH /api/users 200',
    ]);
  });

  it('refreshes the access token once for concurrent calls', async () => {
    const customer = await registerCustomer();
    customer.setCookie('accessToken', '');
    const both = [customer.client.GET('/api/users'), customer.client.GET('/api/users')];
    expect((await Promise.all(both)).map(({ response }) => response.status)).toEqual([200, 200]);
    expect(customer.calls.filter((call) => call.startsWith('GET /api/refresh'))).toHaveLength(1);
    expect(customer.calls).toHaveLength(6); // registration, two calls, refresh, the two calls again
  });

  it('fails concurrent calls with 401 and reports once that the session has ended if both tokens are missing', async () => {
    const customer = await registerCustomer();
    customer.setCookie('accessToken', '');
    customer.setCookie('refreshToken', '');
    const responses = await Promise.all([
      customer.client.GET('/api/users'),
      customer.client.POST('/api/otp'),
    ]);
    expect(responses.map(({ response }) => response.status)).toEqual([401, 401]);
    const messages = responses.map(({ error }) => error?.errors.message);
    expect(new Set(messages)).toEqual(new Set(['access token missing or expired']));
    expect(customer.signedOutCount).toBe(1);
    expect(customer.calls.filter((call) => call.startsWith('GET /api/refresh'))).toHaveLength(1);
  });

  it('repeats a call with a rejected access token only once', async () => {
    let calls = 0;
    const fetch: Send = (request) => {
      calls += 1;
      return Promise.resolve(new Response('{}', { status: request.url.endsWith('/refresh') ? 200 : 401 }));
    };
    const customer = new RecordingClient({ fetch });
    expect((await customer.client.GET('/api/users')).response.status).toBe(401);
    expect(calls).toBe(3); // the call, the refresh, the call again
    expect(customer.signedOutCount).toBe(0);
  });

  it('fails calls with the failure of the refresh, and does not report that the session has ended, if the refresh returns 503', async () => {
    const customer = await registerCustomer();
    customer.setCookie('accessToken', '');
    const fetch: Send = (request) => {
      if (!request.url.endsWith('/api/refresh')) return customer.send(request); // with the customer's cookies
      const body = { status: 'fail', errors: { code: 503, message: 'away' } };
      return Promise.resolve(Response.json(body, { status: 503 }));
    };
    const withFailingRefresh = new RecordingClient({ fetch });
    const { GET } = withFailingRefresh.client;
    const calls = [dataOf(GET('/api/users')), dataOf(GET('/api/users'))];
    for (const result of await Promise.allSettled(calls))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 503, message: 'away' } });
    expect(withFailingRefresh.signedOutCount).toBe(0);
  });
});

it('the client asks Cloudinary for smaller images, and keeps URLs of other hosts', () => {
  const url = 'https://res.cloudinary.com/shop/image/upload/v1/a.jpg';
  expect(sizedImage(url, 960)).toBe('https://res.cloudinary.com/shop/image/upload/c_limit,w_960/v1/a.jpg');
  expect(sizedImage('https://shop.example/upload/a.jpg', 480)).toBe('https://shop.example/upload/a.jpg');
});
