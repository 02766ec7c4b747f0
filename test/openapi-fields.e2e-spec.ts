import { NOTIFICATION_FIELDS } from './support/notifications.js';
import {
  documentOf,
  jsonOf,
  type OpenApi,
  type Operation,
  operationOf,
  resolved,
  type Schema,
} from './support/openapi.js';
import { startService, type TestService } from './support/service.js';

const USER = { id: 'number', fullname: 'string', email: 'string' };
const USER_WITH_ROLE = { ...USER, role: 'string' };
const PRODUCT = { id: 'number', name: 'string', description: 'string', price: 'number', images: 'array' };
const ORDER = {
  order_id: 'string',
  status: 'string',
  gross_amount: 'number',
  payment_type: 'string',
  fraud_status: 'string',
  completed_at: 'string',
  created_at: 'string',
  items: 'array',
  token: 'string',
  redirect_url: 'string',
};

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

function expectOrder(order: Schema | undefined): void {
  expect(typesOf(order)).toEqual(ORDER);
  const { required, properties } = order ?? {};
  expect(required).toEqual(Object.keys(ORDER));
  for (const field of ['payment_type', 'fraud_status', 'completed_at', 'token', 'redirect_url'])
    expect([field, properties?.[field]?.nullable]).toEqual([field, true]);
  expect(properties?.status?.enum).toHaveLength(10);
  expect(typesOf(properties?.items?.items as Schema)).toEqual({
    product_id: 'number',
    name: 'string',
    price: 'number',
    quantity: 'number',
  });
}

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

  it('decisions, Accounts: the user of a verification also says whether the e-mail is verified', () => {
    const { user } = dataOf('POST /api/otp/verify', 200);
    expect(typesOf(user)).toEqual({ ...USER_WITH_ROLE, emailVerified: 'boolean' });
    expect(user?.required).toEqual([...Object.keys(USER_WITH_ROLE), 'emailVerified']);
    expect(typesOf(dataOf('PATCH /api/users', 200).user)).toEqual(USER_WITH_ROLE);
  });

  it('decisions, Orders: the order of every answer has its documented fields', () => {
    for (const [name, status] of [
      ['POST /api/orders', 201],
      ['GET /api/orders/{order_id}', 200],
      ['POST /api/orders/{order_id}/cancel', 200],
      ['GET /api/admin/orders/{order_id}', 200],
    ] as const)
      expectOrder(dataOf(name, status).order);
    for (const name of ['GET /api/orders', 'GET /api/admin/orders']) {
      const { meta, orders } = dataOf(name, 200);
      expect(typesOf(meta)).toEqual({ lastOrderId: 'string' });
      expect(orders?.type).toBe('array');
      expectOrder(orders?.items as Schema);
    }
    const page = dataOf('POST /api/orders/{order_id}/token', 200);
    expect(Object.entries(page).map(([field, { type }]) => [field, type])).toEqual([
      ['token', 'string'],
      ['redirect_url', 'string'],
    ]);
  });

  it('decisions, Orders: the history of an order has every notification with what became of it', () => {
    const { meta, notifications } = dataOf('GET /api/admin/orders/{order_id}', 200);
    expect(typesOf(meta)).toEqual({ lastNotificationId: 'number' });
    const { properties } = notifications?.items as Schema;
    expect(properties?.outcome?.enum).toEqual(['applied', 'duplicate', 'late', 'rejected']);
    expect(properties).toHaveProperty('payload');
    expect(properties?.received_at).toMatchObject({ type: 'string', format: 'date-time' });
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

  it('interface 4.8 and 4.9, decisions, Accounts: what answers nothing has no content', () => {
    for (const name of ['POST /api/logout', 'POST /api/otp', 'PUT /api/users/password'])
      expect(operation(name).responses[204]).not.toHaveProperty('content');
    for (const name of ['POST /api/password/forgot', 'POST /api/password/reset'])
      expect(operation(name).responses[204]).not.toHaveProperty('content');
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
    ['POST /api/otp/verify', ['otp']],
    ['PUT /api/users/password', ['currentPassword', 'password', 'passwordConfirmation']],
    ['POST /api/password/forgot', ['email']],
    ['POST /api/password/reset', ['email', 'otp', 'password', 'passwordConfirmation']],
    ['POST /api/products/payments', [...NOTIFICATION_FIELDS]],
  ])(
    'interface 4.1, 4.2 and 4.9, decisions, Accounts: %s takes its documented fields, all required strings',
    (name, fields) => {
      const schema = fieldsOf(name, 'application/json');
      expect(typesOf(schema)).toEqual(Object.fromEntries(fields.map((field) => [field, 'string'])));
      expect(schema.required).toHaveLength(fields.length);
      expect(schema.required).toEqual(expect.arrayContaining(fields));
    },
  );

  it('decisions, Accounts: a change of profile takes its fields, none of them required', () => {
    const schema = fieldsOf('PATCH /api/users', 'application/json');
    expect(typesOf(schema)).toEqual({ fullname: 'string', email: 'string', password: 'string' });
    expect(schema.required ?? []).toEqual([]);
  });

  it('decisions, Orders: an order takes 1 to 50 items of product and quantity, and an Idempotency-Key', () => {
    const { properties, required } = fieldsOf('POST /api/orders', 'application/json');
    expect(required).toEqual(['items']);
    expect(properties?.items).toMatchObject({
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        required: ['product_id', 'quantity'],
        properties: { product_id: { minimum: 1 }, quantity: { minimum: 1, maximum: 999 } },
      },
    });
    expect(operation('POST /api/orders').parameters).toMatchObject([
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ]);
  });

  it('decisions, Orders: the lists take last_id, the administrator also a status; the rest an order_id', () => {
    const lastId = { name: 'last_id', in: 'query', required: false };
    const orderId = { name: 'order_id', in: 'path', required: true, schema: { format: 'uuid' } };
    const parameters = (name: string) => operation(name).parameters;
    expect(parameters('GET /api/orders')).toMatchObject([lastId]);
    const ofAdmin = parameters('GET /api/admin/orders') ?? [];
    expect(ofAdmin.map(({ name }) => name).sort()).toEqual(['last_id', 'status']);
    expect(ofAdmin.find(({ name }) => name === 'status')?.schema?.enum).toHaveLength(10);
    expect(parameters('GET /api/orders/{order_id}')).toMatchObject([
      orderId,
      { name: 'If-None-Match', in: 'header', required: false },
    ]);
    const response = operation('GET /api/orders/{order_id}').responses;
    expect(response[200]?.headers).toHaveProperty('ETag');
    expect(response[304]).not.toHaveProperty('content');
    for (const name of ['token', 'cancel'])
      expect(parameters(`POST /api/orders/{order_id}/${name}`)).toMatchObject([orderId]);
    expect((parameters('GET /api/admin/orders/{order_id}') ?? []).map(({ name }) => name).sort()).toEqual([
      'last_id',
      'order_id',
    ]);
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
