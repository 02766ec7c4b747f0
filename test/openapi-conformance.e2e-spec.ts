import request, { type Response } from 'supertest';
import { notification } from './support/notifications.js';
import { codeTo, newAccount, PASSWORD, SUBJECTS } from './support/accounts.js';
import type { Client } from './support/client.js';
import {
  documentOf,
  jsonOf,
  type OpenApi,
  type Operation,
  operationOf,
  problemsWith,
} from './support/openapi.js';
import { png } from './support/pictures.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
let document: OpenApi;

beforeAll(async () => {
  service = await startService();
  document = await documentOf(service);
});

afterAll(async () => {
  await service.stop();
});

function operation(name: string): Operation {
  return operationOf(document, name);
}

describe('the service keeps to its document', () => {
  function expectAsDocumented(name: string, response: Response): void {
    const documented = operation(name).responses[response.status];
    expect({ status: response.status, isDocumented: documented !== undefined }).toEqual({
      status: response.status,
      isDocumented: true,
    });
    expect(response.headers).toHaveProperty('x-request-id');
    if (documented?.content === undefined) expect(response.text).toBe('');
    else expect(problemsWith(document, jsonOf(documented).schema, response.body)).toEqual([]);
    expect(documented?.headers?.['Set-Cookie'] !== undefined).toBe('set-cookie' in response.headers);
  }

  function form(client: Client, method: 'post' | 'put', path: string, pictures: number) {
    const test = client[method](path)
      .field('name', 'Kue lapis')
      .field('description', 'Layers')
      .field('price', '185000.50');
    for (let picture = 0; picture < pictures; picture += 1)
      void test.attach('images', png(picture), { filename: `${picture}.png` });
    return test;
  }

  it('for accounts', async () => {
    const client = service.client();
    const account = { email: 'documented@example.com', password: 'secret' };
    expectAsDocumented('POST /api/register', await client.register(account));
    expectAsDocumented('POST /api/register', await client.register(account));
    expectAsDocumented('POST /api/register', await client.register({ fullname: '' }));
    expectAsDocumented('POST /api/login', await client.post('/api/login').send(account));
    expectAsDocumented('GET /api/users', await client.get('/api/users'));
    expectAsDocumented('GET /api/refresh', await client.get('/api/refresh'));
    expectAsDocumented(
      'POST /api/login',
      await client.post('/api/login').send({ ...account, password: 'x' }),
    );
    expectAsDocumented('POST /api/login', await client.post('/api/login').send({}));
    expectAsDocumented('GET /api/refresh', await service.client().get('/api/refresh'));
    expectAsDocumented('GET /api/users', await service.client().get('/api/users'));
    const forged = service.client().setCookie('accessToken', 'forged');
    expectAsDocumented('GET /api/users', await forged.get('/api/users'));
  });

  it('for products', async () => {
    const admin = await service.admin();
    const customer = await service.customer();
    const PRODUCT_PATH = '/api/products/{product_id}';
    expectAsDocumented('GET /api/products', await customer.get('/api/products'));
    const created = await form(admin, 'post', '/api/products', 2);
    expectAsDocumented('POST /api/products', created);
    expectAsDocumented('POST /api/products', await form(admin, 'post', '/api/products', 0));
    expectAsDocumented('POST /api/products', await form(admin, 'post', '/api/products', 6));
    expectAsDocumented('POST /api/products', await form(customer, 'post', '/api/products', 0));
    expectAsDocumented('GET /api/products', await customer.get('/api/products'));
    expectAsDocumented('GET /api/products', await customer.get('/api/products?last_id=x'));

    const { id } = (created.body as { data: { products: { id: number } } }).data.products;
    const path = `/api/products/${id}`;
    expectAsDocumented(`GET ${PRODUCT_PATH}`, await customer.get(path));
    const update = (pictures: number) => form(admin, 'put', path, pictures).field('images.removed[]', '');
    expectAsDocumented(`PUT ${PRODUCT_PATH}`, await update(1));
    expectAsDocumented(`PUT ${PRODUCT_PATH}`, await update(3));
    expectAsDocumented(`PUT ${PRODUCT_PATH}`, await form(admin, 'put', path, 0));
    expectAsDocumented(`DELETE ${PRODUCT_PATH}`, await customer.delete(path));
    expectAsDocumented(`DELETE ${PRODUCT_PATH}`, await admin.delete(path));
    expectAsDocumented(`DELETE ${PRODUCT_PATH}`, await admin.delete(path));
  });

  it('for payment notifications', async () => {
    const name = 'POST /api/products/payments';
    const send = (body: unknown) =>
      request(service.url)
        .post('/api/products/payments')
        .send(body as object);
    expectAsDocumented(name, await send(notification()));
    expectAsDocumented(name, await send({}));
    expectAsDocumented(name, await send('{').set('Content-Type', 'application/json'));
  });

  it('for the probes', async () => {
    expectAsDocumented('GET /api/health/live', await service.client().get('/api/health/live'));
    expectAsDocumented('GET /api/health/ready', await service.client().get('/api/health/ready'));
  });

  it('for what the owner of an account does', async () => {
    const account = await newAccount(service);
    const { client, email } = account;
    const otp = await codeTo(service, email);
    const verify = (code: unknown) => client.post('/api/otp/verify').send({ otp: code });
    expectAsDocumented('POST /api/otp/verify', await verify(undefined));
    expectAsDocumented('POST /api/otp/verify', await verify('wrong'));
    expectAsDocumented('POST /api/otp/verify', await verify(otp));
    expectAsDocumented('POST /api/otp', await client.post('/api/otp'));
    expectAsDocumented('POST /api/otp', await service.client().post('/api/otp'));

    const profile = (body: object) => client.patch('/api/users').send(body);
    const taken = (await newAccount(service)).email;
    expectAsDocumented('PATCH /api/users', await profile({ fullname: 'Ayu W.' }));
    expectAsDocumented('PATCH /api/users', await profile({ fullname: '' }));
    expectAsDocumented('PATCH /api/users', await profile({ email: taken, password: 'wrong' }));
    expectAsDocumented('PATCH /api/users', await profile({ email: taken, password: PASSWORD }));

    const password = (currentPassword: string) =>
      client
        .put('/api/users/password')
        .send({ currentPassword, password: 'new', passwordConfirmation: 'new' });
    expectAsDocumented('PUT /api/users/password', await password('wrong'));
    expectAsDocumented('PUT /api/users/password', await password(PASSWORD));

    const forgot = (body: object) => service.client().post('/api/password/forgot').send(body);
    expectAsDocumented('POST /api/password/forgot', await forgot({}));
    expectAsDocumented('POST /api/password/forgot', await forgot({ email }));
    const reset = (code: string) =>
      service
        .client()
        .post('/api/password/reset')
        .send({ email, otp: code, password: 'newer', passwordConfirmation: 'newer' });
    expectAsDocumented('POST /api/password/reset', await reset(''));
    expectAsDocumented('POST /api/password/reset', await reset('wrong'));
    const code = await codeTo(service, email, SUBJECTS.reset);
    expectAsDocumented('POST /api/password/reset', await reset(code));
    expectAsDocumented('POST /api/logout', await client.post('/api/logout'));
    expectAsDocumented('POST /api/logout', await service.client().post('/api/logout'));
  });

  it('for a customer and for an administrator', async () => {
    const [admin, customer] = [await service.admin(), await service.customer()];
    const product = await form(admin, 'post', '/api/products', 0);
    const { id } = (product.body as { data: { products: { id: number } } }).data.products;
    const order = (quantity: number) =>
      customer
        .post('/api/orders')
        .set('Idempotency-Key', 'once')
        .send({ items: [{ product_id: id, quantity }] });
    expectAsDocumented('GET /api/orders', await customer.get('/api/orders'));
    const created = await order(2);
    expect(created.status).toBe(201);
    expectAsDocumented('POST /api/orders', created);
    expectAsDocumented('POST /api/orders', await order(3));
    expectAsDocumented('POST /api/orders', await order(0));
    const unknown = { items: [{ product_id: 2 ** 30, quantity: 1 }] };
    expectAsDocumented('POST /api/orders', await customer.post('/api/orders').send(unknown));

    const { order_id: orderId } = (created.body as { data: { order: { order_id: string } } }).data.order;
    const path = `/api/orders/${orderId}`;
    const shown = await customer.get(path);
    expectAsDocumented('GET /api/orders/{order_id}', shown);
    const { etag = '' } = shown.headers as { etag?: string };
    const unchanged = await customer.get(path).set('If-None-Match', etag);
    expect(unchanged.status).toBe(304);
    expectAsDocumented('GET /api/orders/{order_id}', unchanged);
    const stranger = await service.customer();
    expectAsDocumented('GET /api/orders/{order_id}', await stranger.get(path));
    expectAsDocumented('GET /api/orders', await customer.get('/api/orders'));
    expectAsDocumented('GET /api/orders', await customer.get('/api/orders?last_id=x'));
    for (const action of ['token', 'cancel', 'token', 'cancel'])
      expectAsDocumented(`POST /api/orders/{order_id}/${action}`, await customer.post(`${path}/${action}`));

    const ofAdmin = '/api/admin/orders';
    expectAsDocumented(`GET ${ofAdmin}`, await admin.get(ofAdmin));
    expectAsDocumented(`GET ${ofAdmin}`, await admin.get(`${ofAdmin}?status=refund`));
    expectAsDocumented(`GET ${ofAdmin}`, await admin.get(`${ofAdmin}?status=x`));
    expectAsDocumented(`GET ${ofAdmin}`, await customer.get(ofAdmin));
    expectAsDocumented(`GET ${ofAdmin}`, await admin.get(`${ofAdmin}?q=ayu&fulfilment=new`));
    const fulfilment = `PUT ${ofAdmin}/{order_id}/fulfilment`;
    for (const step of ['refused', 'refused', 'eaten'])
      expectAsDocumented(
        fulfilment,
        await admin.put(`${ofAdmin}/${orderId}/fulfilment`).send({ fulfilment: step }),
      );
    expectAsDocumented(fulfilment, await customer.put(`${ofAdmin}/${orderId}/fulfilment`));
    const history = `GET ${ofAdmin}/{order_id}`;
    expectAsDocumented(history, await admin.get(`${ofAdmin}/${orderId}`));
    expectAsDocumented(history, await admin.get(`${ofAdmin}/${orderId}?last_id=x`));
    expectAsDocumented(history, await admin.get(`${ofAdmin}/none`));
    expectAsDocumented(history, await customer.get(`${ofAdmin}/${orderId}`));
  });
});
