import request, { type Response } from 'supertest';
import type { Client } from './support/client.js';
import { MESSAGES } from './support/failure.js';
import { NOTIFICATION_FIELDS } from './support/notifications.js';
import {
  jsonOf,
  type OpenApi,
  type Operation,
  operationsOf,
  problemsWith,
  resolved,
  type Schema,
} from './support/openapi.js';
import { png } from './support/pictures.js';
import { isDocumentation, routesOf } from './support/routes.js';
import { startService, type TestService } from './support/service.js';

type Access = 'none' | 'user' | 'admin' | 'refresh cookie';
type Failures = readonly (readonly [code: number, message: string])[];

const VALIDATION = [400, MESSAGES.validation] as const;
const NOT_FOUND = [404, MESSAGES.notFound] as const;
const INVALID_OTP = [400, 'invalid or expired otp'] as const;
const NOT_PENDING = [409, 'order is no longer pending'] as const;
const GATEWAY_AWAY = [502, 'payment gateway is unavailable, please try again later'] as const;

/** Who may call (interface.md section 4, decisions.md), what is read, and what is refused besides (section 7). */
const OPERATIONS: Readonly<Record<string, [Access, 'json' | 'form' | null, Failures]>> = {
  'POST /api/register': ['none', 'json', [VALIDATION, [409, MESSAGES.emailTaken]]],
  'POST /api/login': ['none', 'json', [VALIDATION, [400, MESSAGES.credentials]]],
  'GET /api/refresh': [
    'refresh cookie',
    null,
    [
      [401, MESSAGES.missingRefreshToken],
      [401, MESSAGES.refreshToken],
    ],
  ],
  'GET /api/users': ['user', null, []],
  'GET /api/products': ['user', null, [VALIDATION, NOT_FOUND]],
  'GET /api/products/{product_id}': ['user', null, [NOT_FOUND]],
  'POST /api/products': [
    'admin',
    'form',
    [VALIDATION, [500, 'fail to create product and this is not your fault, please try again later']],
  ],
  'PUT /api/products/{product_id}': [
    'admin',
    'form',
    [[400, 'validation errors'], [400, 'each product can only have 5 images at max'], NOT_FOUND],
  ],
  'DELETE /api/products/{product_id}': ['admin', null, [NOT_FOUND]],
  'POST /api/products/payments': ['none', 'json', [VALIDATION, [403, 'invalid signature'], NOT_FOUND]],
  'POST /api/logout': ['none', null, []],
  'POST /api/otp': ['user', null, []],
  'POST /api/otp/verify': ['user', 'json', [VALIDATION, INVALID_OTP]],
  'PATCH /api/users': ['user', 'json', [VALIDATION, [400, MESSAGES.credentials], [409, MESSAGES.emailTaken]]],
  'PUT /api/users/password': ['user', 'json', [VALIDATION, [400, MESSAGES.credentials]]],
  'POST /api/password/forgot': ['none', 'json', [VALIDATION]],
  'POST /api/password/reset': ['none', 'json', [VALIDATION, INVALID_OTP]],
  'POST /api/orders': [
    'user',
    'json',
    [VALIDATION, NOT_FOUND, [409, 'idempotency key was used with another request'], GATEWAY_AWAY],
  ],
  'GET /api/orders': ['user', null, [VALIDATION, NOT_FOUND]],
  'GET /api/orders/{order_id}': ['user', null, [NOT_FOUND]],
  'POST /api/orders/{order_id}/token': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'POST /api/orders/{order_id}/cancel': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'GET /api/admin/orders': ['admin', null, [VALIDATION, NOT_FOUND]],
  'GET /api/admin/orders/{order_id}': ['admin', null, [VALIDATION, NOT_FOUND]],
  'GET /api/images/{name}': ['none', null, [NOT_FOUND]],
  'GET /api/health/live': ['none', null, []],
  'GET /api/health/ready': ['none', null, []],
};

const USER = { id: 'number', fullname: 'string', email: 'string' };
const USER_WITH_ROLE = { ...USER, role: 'string' };
const PRODUCT = { id: 'number', name: 'string', description: 'string', price: 'number', images: 'array' };

let service: TestService;
let document: OpenApi;

beforeAll(async () => {
  service = await startService();
  document = (await service.client().get('/api/docs-json').expect(200)).body as OpenApi;
});

afterAll(async () => {
  await service.stop();
});

function operation(name: string): Operation {
  const [method = '', path = ''] = name.split(' ');
  const found = document.paths[path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${name} is not documented`);
  return found;
}

function documentedFailures(name: string): (readonly [number, string])[] {
  return Object.entries(operation(name).responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      Object.values(jsonOf(response).examples ?? {}).map(({ value }) => {
        const { errors } = value as { errors: { code: number; message: string } };
        expect(errors.code).toBe(Number(status));
        return [errors.code, errors.message] as const;
      }),
    );
}

function expectedFailures(name: string): Failures {
  const [access, takes, own] = OPERATIONS[name] ?? ['none', null, []];
  const needsAccessCookie = access === 'user' || access === 'admin';
  return [
    ...own,
    ...(needsAccessCookie
      ? [[400, MESSAGES.malformedAccessToken] as const, [401, MESSAGES.missingAccessToken] as const]
      : []),
    ...(access === 'admin' ? [[403, MESSAGES.adminOnly] as const] : []),
    ...(name.startsWith('GET ') ? [] : [[403, MESSAGES.origin] as const]),
    ...(takes === null ? [] : [[400, MESSAGES.malformedRequest] as const, [413, MESSAGES.tooLarge] as const]),
    ...(takes === 'json' ? [[415, 'content encoding or character set is not supported'] as const] : []),
    [500, MESSAGES.unexpected],
    [503, MESSAGES.unavailable],
  ];
}

/** Types of the fields of a documented object. */
function typesOf(schema: Schema | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, field]) => [name, field.type]),
  );
}

/** What stands under `data` of the successful answer. */
function dataOf(name: string, status: number): Readonly<Record<string, Schema>> {
  const schema = resolved(document, jsonOf(operation(name).responses[status]).schema ?? {});
  expect(schema).toMatchObject({
    required: ['status', 'data'],
    properties: { status: { enum: ['success'] } },
  });
  const fields = schema.properties?.data?.properties ?? {};
  expect(schema.properties?.data?.required).toEqual(Object.keys(fields));
  return fields;
}

describe('what is described', () => {
  it('decisions, Operation: every route of the service is in the document, and nothing else', () => {
    const routes = routesOf(service)
      // The simulator's are pages for people, there with the simulator alone (decisions.md, Orders).
      .filter(({ path }) => !isDocumentation(path) && !path.startsWith('/api/simulator/'))
      .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    const documented = operationsOf(document).map(([method, path]) => `${method.toUpperCase()} ${path}`);
    expect(documented.toSorted()).toEqual(routes.toSorted());
    expect(Object.keys(OPERATIONS).sort()).toEqual(documented.toSorted());
  });

  it.each(Object.entries(OPERATIONS))(
    'interface section 4: %s says what it is for and which cookie it needs',
    (name, [access]) => {
      const { summary, tags, security } = operation(name);
      expect(summary).toMatch(/\w{3}/);
      expect(tags).toHaveLength(1);
      const cookie = access === 'refresh cookie' ? 'refreshToken' : 'accessToken';
      expect(security ?? []).toEqual(access === 'none' ? [] : [{ [cookie]: [] }]);
    },
  );

  it.each(Object.keys(OPERATIONS))(
    'interface section 7: %s names every failure with its exact message',
    (name) => {
      const byText = ([codeA, a]: readonly [number, string], [codeB, b]: readonly [number, string]): number =>
        codeA - codeB || a.localeCompare(b);
      expect(documentedFailures(name).sort(byText)).toEqual([...expectedFailures(name)].sort(byText));
    },
  );

  it.each(Object.keys(OPERATIONS))('interface 2.4: the failures of %s are fail envelopes', (name) => {
    for (const [status, response] of Object.entries(operation(name).responses)) {
      if (Number(status) < 400) continue;
      const { schema, examples } = jsonOf(response);
      expect(schema).toMatchObject({
        required: ['status', 'errors'],
        properties: {
          status: { enum: ['fail'] },
          errors: {
            required: ['code', 'message'],
            properties: { code: { type: 'integer', enum: [Number(status)] }, message: { type: 'string' } },
          },
        },
      });
      for (const { value } of Object.values(examples ?? {}))
        expect(problemsWith(document, schema, value)).toEqual([]);
    }
  });

  it('interface section 5: the two cookies are described, and who sets them', () => {
    expect(document.components.securitySchemes).toMatchObject({
      accessToken: { type: 'apiKey', in: 'cookie', name: 'accessToken' },
      refreshToken: { type: 'apiKey', in: 'cookie', name: 'refreshToken' },
    });
    const cookies = (name: string, status: number): unknown =>
      operation(name).responses[status]?.headers?.['Set-Cookie'];
    const both = { description: expect.stringMatching(/accessToken and refreshToken.*HttpOnly/) as string };
    expect(cookies('POST /api/register', 201)).toMatchObject(both);
    expect(cookies('POST /api/login', 200)).toMatchObject(both);
    expect(cookies('GET /api/refresh', 200)).toMatchObject({
      description: expect.stringMatching(/^accessToken,/) as string,
    });
    expect(cookies('GET /api/users', 200)).toBeUndefined();
  });
});

describe('what is answered', () => {
  it('interface 2.1: the user of every answer has its documented fields', () => {
    expect(typesOf(dataOf('POST /api/register', 201).user)).toEqual(USER_WITH_ROLE);
    expect(typesOf(dataOf('POST /api/login', 200).users)).toEqual(USER);
    expect(typesOf(dataOf('POST /api/login', 200).user)).toEqual(USER_WITH_ROLE);
    expect(typesOf(dataOf('GET /api/refresh', 200).user)).toEqual(USER_WITH_ROLE);
    expect(typesOf(dataOf('GET /api/users', 200).user)).toEqual(USER);
    expect(dataOf('POST /api/register', 201).user).toMatchObject({
      required: Object.keys(USER_WITH_ROLE),
      properties: { role: { enum: ['USER', 'ADMIN'] } },
    });
  });

  it('interface 2.2: the product of every answer has its documented fields', () => {
    const { meta, products } = dataOf('GET /api/products', 200);
    expect(typesOf(meta)).toEqual({ lastProductId: 'number' });
    expect(products?.type).toBe('array');
    const listed = products?.items as Schema;
    expect(typesOf(listed)).toEqual(PRODUCT);
    expect(listed).toMatchObject({
      required: Object.keys(PRODUCT),
      properties: {
        description: { nullable: true },
        images: { nullable: true, maxItems: 5, items: { type: 'string' } },
      },
    });
    for (const [name, status] of [
      ['POST /api/products', 201],
      ['PUT /api/products/{product_id}', 200],
    ] as const) {
      const product = dataOf(name, status).products;
      expect(typesOf(product)).toEqual(PRODUCT);
      expect(product?.properties?.images).toMatchObject({ nullable: false, maxItems: 5 });
    }
  });

  it('interface 4.8 and 4.9: deletion answers 204 and a notification 200, both without content', () => {
    expect(operation('DELETE /api/products/{product_id}').responses[204]).not.toHaveProperty('content');
    expect(operation('POST /api/products/payments').responses[200]).not.toHaveProperty('content');
  });
});

describe('what is taken', () => {
  function fieldsOf(name: string, mediaType: string): Schema {
    return resolved(document, operation(name).requestBody?.content?.[mediaType]?.schema ?? {});
  }

  it.each([
    ['POST /api/register', ['email', 'fullname', 'password', 'passwordConfirmation']],
    ['POST /api/login', ['email', 'password']],
    ['POST /api/products/payments', [...NOTIFICATION_FIELDS]],
  ])('interface 4.1, 4.2 and 4.9: %s takes its documented fields, all required strings', (name, fields) => {
    const schema = fieldsOf(name, 'application/json');
    expect(typesOf(schema)).toEqual(Object.fromEntries(fields.map((field) => [field, 'string'])));
    expect(schema.required).toEqual(fields);
  });

  it('interface section 6: the notification names every transaction_status and fraud_status', () => {
    const { properties } = fieldsOf('POST /api/products/payments', 'application/json');
    expect((properties?.transaction_status?.enum as string[]).toSorted()).toEqual([
      'authorize',
      'cancel',
      'capture',
      'deny',
      'expire',
      'failure',
      'partial_refund',
      'pending',
      'refund',
      'settlement',
    ]);
    expect(properties?.fraud_status?.enum).toEqual(['accept', 'deny', 'challenge']);
  });

  it('interface 4.6 and 4.7: the forms have their documented fields', () => {
    const files = { type: 'array', items: { type: 'string', format: 'binary' } };
    const create = fieldsOf('POST /api/products', 'multipart/form-data');
    expect(create.required).toEqual(['name', 'description', 'price']);
    expect(Object.keys(create.properties ?? {})).toEqual(['name', 'description', 'price', 'images']);
    expect(create.properties?.images).toMatchObject({ ...files, maxItems: 5 });
    const update = fieldsOf('PUT /api/products/{product_id}', 'multipart/form-data');
    expect(update.required).toEqual(['name', 'description', 'price', 'images.removed[]']);
    expect(update.properties?.images).toMatchObject(files);
    expect(update.properties?.['images.removed[]']).toMatchObject({
      type: 'array',
      items: { type: 'string' },
    });
  });

  it('interface 4.5 and 4.7: the query and the path have their documented parameters', () => {
    expect(operation('GET /api/products').parameters).toMatchObject([
      { name: 'last_id', in: 'query', required: false, schema: { type: 'number' } },
    ]);
    for (const name of ['GET', 'PUT', 'DELETE'].map((method) => `${method} /api/products/{product_id}`)) {
      expect(operation(name).parameters).toMatchObject([
        { name: 'product_id', in: 'path', required: true, schema: { type: 'integer' } },
      ]);
    }
  });
});

describe('the document', () => {
  it('decisions, Operation: is well-formed OpenAPI 3.0', () => {
    expect(document.openapi).toMatch(/^3\.0\.\d$/);
    expect(document.info.title).not.toBe('');
    expect(document.info.version).not.toBe('');
    const ids = operationsOf(document).map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, path, { parameters = [], responses, security = [], requestBody }] of operationsOf(
      document,
    )) {
      expect(path).toMatch(/^\/api\//);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name, required }) => required === true && name)).toEqual(inPath);
      for (const { schema } of parameters) expect(problemsWith(document, schema, undefined)).toBeDefined();
      for (const name of security.flatMap(Object.keys))
        expect(document.components.securitySchemes).toHaveProperty(name);
      expect(Object.keys(responses).every((status) => /^[2-5]\d\d$/.test(status))).toBe(true);
      for (const response of Object.values(responses)) expect(response.description).not.toBe('');
      for (const body of [requestBody, ...Object.values(responses)]) {
        for (const { schema } of Object.values(body?.content ?? {})) {
          expect(schema).toBeDefined();
          // Compiling is what fails for a schema that is none.
          expect(() => problemsWith(document, schema, {})).not.toThrow();
        }
      }
    }
  });

  it('decisions, Operation: every body of JSON has an example, and every example holds', () => {
    for (const [method, path, { requestBody, responses }] of operationsOf(document)) {
      for (const body of [requestBody, ...Object.values(responses)]) {
        for (const [type, { schema, example, examples }] of Object.entries(body?.content ?? {})) {
          if (type !== 'application/json') continue;
          const values = Object.values(examples ?? {}).map(({ value }) => value);
          if (example !== undefined) values.push(example);
          expect([method, path, values.length > 0]).toEqual([method, path, true]);
          for (const value of values)
            expect([method, path, ...problemsWith(document, schema, value)]).toEqual([method, path]);
        }
      }
    }
  });
});

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

  it('interface 4.1 to 4.4: for accounts', async () => {
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

  it('interface 4.5 to 4.8: for products', async () => {
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

  it('interface 4.9: for payment notifications', async () => {
    const name = 'POST /api/products/payments';
    const { example } = jsonOf(operation(name).requestBody);
    const send = (body: unknown) =>
      request(service.url)
        .post('/api/products/payments')
        .send(body as object);
    expectAsDocumented(name, await send(example));
    expectAsDocumented(name, await send({}));
    expectAsDocumented(name, await send('{').set('Content-Type', 'application/json'));
  });

  it('decisions, Operation: for the probes', async () => {
    expectAsDocumented('GET /api/health/live', await service.client().get('/api/health/live'));
    expectAsDocumented('GET /api/health/ready', await service.client().get('/api/health/ready'));
  });
});

describe('the page', () => {
  it('decisions, Operation: /api/docs is served whole, from this service alone', async () => {
    const page = await service
      .client()
      .get('/api/docs')
      .expect(200)
      .expect('Content-Type', /^text\/html/);
    const addresses = [...page.text.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(3);
    const policy = page.headers['content-security-policy'] ?? '';
    expect(policy).toMatch(/default-src 'self'/);
    // A browser would ask for the parts by https, where a service without TLS has nothing.
    expect(policy).not.toMatch('upgrade-insecure-requests');
    for (const address of addresses) {
      const url = new URL(address, `${service.url}/api/docs`);
      expect(url.origin).toBe(service.url);
      await request(service.url).get(url.pathname).expect(200);
    }
  });
});
