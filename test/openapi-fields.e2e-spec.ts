import { NOTIFICATION_FIELDS } from './support/notifications.js';
import {
  documentOf,
  type OpenApi,
  type Operation,
  operationOf,
  resolved,
  type Schema,
} from './support/openapi.js';
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

/** Types of the fields of a documented object. */
function typesOf(schema: Schema | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, field]) => [name, field.type]),
  );
}

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
  ])('%s takes its documented fields, all required strings', (name, fields) => {
    const schema = fieldsOf(name, 'application/json');
    expect(typesOf(schema)).toEqual(Object.fromEntries(fields.map((field) => [field, 'string'])));
    expect(schema.required).toHaveLength(fields.length);
    expect(schema.required).toEqual(expect.arrayContaining(fields));
  });

  it('a change of profile takes its fields, none of them required', () => {
    const schema = fieldsOf('PATCH /api/users', 'application/json');
    expect(typesOf(schema)).toEqual({ fullname: 'string', email: 'string', password: 'string' });
    expect(schema.required ?? []).toEqual([]);
  });

  it('an order takes 1 to 50 items of product and quantity, and an Idempotency-Key', () => {
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

  it('the lists take last_id, the administrator also filters and a search; the rest an order_id', () => {
    const lastId = { name: 'last_id', in: 'query', required: false };
    const orderId = { name: 'order_id', in: 'path', required: true, schema: { format: 'uuid' } };
    const parameters = (name: string) => operation(name).parameters;
    expect(parameters('GET /api/orders')).toMatchObject([lastId]);
    const ofAdmin = parameters('GET /api/admin/orders') ?? [];
    expect(ofAdmin.map(({ name }) => name).sort()).toEqual(['fulfilment', 'last_id', 'q', 'status']);
    expect(ofAdmin.find(({ name }) => name === 'status')?.schema?.enum).toHaveLength(10);
    expect(ofAdmin.find(({ name }) => name === 'fulfilment')?.schema?.enum).toHaveLength(5);
    expect(ofAdmin.find(({ name }) => name === 'q')).toMatchObject({
      required: false,
      schema: { maxLength: 100 },
    });
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

  it('the notification names every transaction_status and fraud_status', () => {
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

  it('the forms have their documented fields', () => {
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

  it('the query and the path have their documented parameters', () => {
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
