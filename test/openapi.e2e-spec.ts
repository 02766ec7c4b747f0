import { readFile } from 'node:fs/promises';
import request from 'supertest';
import {
  documentOf,
  jsonOf,
  type OpenApi,
  type Operation,
  operationOf,
  operationsOf,
  resolved,
  type Schema,
} from './support/openapi.js';
import { expectedFailures, OPERATIONS } from './support/operations.js';
import { NOT_FOUND } from './support/products.js';
import { isDocumentation, routesOf } from './support/routes.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
let document: OpenApi;

beforeAll(async () => {
  service = await startService();
  document = await documentOf(service);
});

afterAll(() => service.stop());

function operation(name: string): Operation {
  return operationOf(document, name);
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

describe('what is described', () => {
  it('every route of the service is in the document, and nothing else', () => {
    const routes = routesOf(service)
      .filter(({ path }) => !isDocumentation(path) && !path.startsWith('/api/simulator/'))
      .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    const documented = operationsOf(document).map(([method, path]) => `${method.toUpperCase()} ${path}`);
    expect(documented.toSorted()).toEqual(routes.toSorted());
    expect(Object.keys(OPERATIONS).sort()).toEqual(documented.toSorted());
  });

  it.each(Object.entries(OPERATIONS))(
    '%s says what it is for and which cookie it needs',
    (name, [access]) => {
      const { summary, tags, security, 'x-access': declared } = operation(name);
      expect(declared).toBe(access);
      expect(summary).toMatch(/\w{3}/);
      expect(tags).toHaveLength(1);
      const cookie = access === 'refresh cookie' ? 'refreshToken' : 'accessToken';
      // Signing out uses the cookie of a request that has one.
      const optional = name === 'POST /api/logout' ? [{ accessToken: [] }, {}] : [];
      expect(security).toEqual(access === 'none' ? optional : [{ [cookie]: [] }]);
    },
  );

  it.each(Object.keys(OPERATIONS))('%s names every failure with its exact message', (name) => {
    const byText = ([codeA, a]: readonly [number, string], [codeB, b]: readonly [number, string]): number =>
      codeA - codeB || a.localeCompare(b);
    expect(documentedFailures(name).sort(byText)).toEqual([...expectedFailures(name)].sort(byText));
  });
});

describe('the document', () => {
  it('has the version of the package and its licence', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(document.info).toMatchObject({ version, license: { name: 'MIT' } });
  });

  it('defines a failure that operations share once', async () => {
    const { body } = (await request(service.url).get('/api/docs-json').expect(200)) as { body: OpenApi };
    const responses = operationsOf(body).flatMap(([, , operation]) => Object.entries(operation.responses));
    const failing = responses.filter(([status, response]) => Number(status) >= 300 && !('$ref' in response));
    const inline = failing
      .map(([, response]) => JSON.stringify(response))
      // Messages of fields belong to one operation.
      .filter((response) => !response.includes('"details":'));
    expect(inline).toEqual([...new Set(inline)]);
    expect(Object.keys(body.components.responses)).toContain('AccessTokenMissingOrExpired');
  });

  it('is not sent again to a client that has it', async () => {
    const { headers } = await request(service.url).get('/api/docs-json').expect(200);
    await request(service.url).get('/api/docs-json').set('If-None-Match', String(headers.etag)).expect(304);
  });

  it('is available as JSON only', async () => {
    const response = await request(service.url).get('/api/docs-yaml').expect(404);
    expect(response.body).toEqual(NOT_FOUND);
  });
});

describe('what is taken', () => {
  function schemaOf(name: string, mediaType: string): Schema {
    return resolved(document, operation(name).requestBody?.content?.[mediaType]?.schema ?? {});
  }

  it('an order takes 1 to 50 items of product and quantity, and an Idempotency-Key', () => {
    const { properties, required } = schemaOf('POST /api/orders', 'application/json');
    expect(required).toEqual(['items']);
    expect(properties?.items).toMatchObject({
      minItems: 1,
      maxItems: 50,
      items: {
        required: ['product_id', 'quantity'],
        properties: { product_id: { minimum: 1 }, quantity: { minimum: 1, maximum: 999 } },
      },
    });
    expect(operation('POST /api/orders').parameters).toMatchObject([
      { name: 'Idempotency-Key', in: 'header', required: false, schema: { minLength: 1, maxLength: 255 } },
    ]);
  });
});

describe('the page', () => {
  it('the address of the service leads to it, and its calls go to the address under which it was opened (contract 16.2)', async () => {
    await request(service.url).get('/').expect(302).expect('Location', '/api/docs');
    expect(document.servers).toMatchObject([{ url: '/' }]);
  });

  it('/api/docs is served whole, from this service alone', async () => {
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
    const init = await request(service.url).get('/api/docs/swagger-ui-init.js').expect(200);
    const hosts = [...init.text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    expect(new Set(hosts)).toEqual(new Set(['localhost', 'opensource.org']));
  });
});
