import request from 'supertest';
import { extractOperations, type Operation, readOpenApi } from './support/openapi.js';
import { expectedFailures, OPERATIONS } from './support/operations.js';
import { isDocumentation, listRoutes } from './support/routes.js';
import { useService } from './support/service.js';

const service = await useService();
const document = await readOpenApi(service);
const joinMethodAndPath = (method: string, path: string) => `${method.toUpperCase()} ${path}`;
/** Documented operations by method and path, such as `GET /api/orders`. */
const operations = new Map(
  extractOperations(document).map(([method, path, operation]) => [
    joinMethodAndPath(method, path),
    operation,
  ]),
);

function getOperation(name: string): Operation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`${name} is not documented`);
  return operation;
}

interface DocumentedFailure {
  readonly code: number;
  readonly message: string;
}

/** Lists the failures in the examples of an operation. */
function listExamples(name: string): DocumentedFailure[] {
  return Object.entries(getOperation(name).responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      Object.values(response.content?.['application/json']?.examples ?? {}).map(({ value }) => {
        const { errors } = value as { errors: DocumentedFailure };
        expect(errors.code).toBe(Number(status));
        return errors;
      }),
    );
}

describe('the OpenAPI document', () => {
  it('contains every route of the service except those of the documentation and the payment simulator', () => {
    const routes = listRoutes(service)
      .filter(({ path }) => !isDocumentation(path))
      // OpenAPI writes the parameter `:order_id` of Express as `{order_id}`.
      .map(({ method, path }) => joinMethodAndPath(method, path.replaceAll(/:(\w+)/g, '{$1}')));
    const documented = [...operations.keys()];
    const simulator = [
      'GET /api/simulator/{token}',
      'POST /api/simulator/{token}/{action}',
      'POST /api/simulator/{token}/transactions/{transactionId}/{action}',
    ];
    expect([...documented, ...simulator].sort()).toEqual(routes.toSorted());
    expect(documented.sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  it.each(Object.entries(OPERATIONS))(
    'describes the purpose, the access, the cookie and every failure of %s',
    (name, [access]) => {
      const { summary, tags, security, 'x-access': declaredAccess } = getOperation(name);
      expect(declaredAccess).toBe(access);
      expect(summary).toMatch(/\w{3}/);
      expect(tags).toHaveLength(1);
      // The cookie of a logout is optional: the empty object stands for a request without the cookie.
      const publicOperations: Readonly<Record<string, unknown>> = {
        'POST /api/logout': [{ accessToken: [] }, {}],
        'GET /api/refresh': [{ refreshToken: [] }],
      };
      expect(security).toEqual(access === 'public' ? (publicOperations[name] ?? []) : [{ accessToken: [] }]);
      const expected = expectedFailures(name).map(([code, message]) => `${code} ${message}`);
      const examples = listExamples(name);
      const documented = new Set(examples.map(({ code, message }) => `${code} ${message}`));
      expect([...documented].sort()).toEqual(expected.sort());
      expect(new Set(examples.map((example) => JSON.stringify(example))).size).toBe(examples.length);
    },
  );

  it('promises no ETag for sales.csv, which is streamed', () => {
    const { responses } = getOperation('GET /api/admin/sales.csv');
    expect(responses).not.toHaveProperty('304');
    expect(JSON.stringify(responses['200'])).not.toContain('ETag');
  });
});

describe('the API page', () => {
  it('is the target of a redirect from /, and sends its calls to the host from which it was loaded (contract 16.2)', async () => {
    await request(service.url).get('/').expect(302).expect('Location', '/api/docs');
    expect(document.servers).toMatchObject([{ url: '/' }]);
  });

  it('consists of files that this service serves, and loads nothing from other hosts', async () => {
    const page = await request(service.url)
      .get('/api/docs')
      .expect(200)
      .expect('Content-Type', /^text\/html/);
    const addresses = [...page.text.matchAll(/\b(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.length).toBeGreaterThan(3);
    const policy = page.headers['content-security-policy'];
    expect(policy).toMatch(/default-src 'self'/);
    // `upgrade-insecure-requests` makes a browser load the files by https, which a service without TLS does not serve.
    expect(policy).not.toMatch('upgrade-insecure-requests');
    for (const address of addresses) {
      const url = new URL(address, `${service.url}/api/docs`);
      expect(url.origin).toBe(service.url);
      await request(service.url).get(url.pathname).expect(200);
    }
    // Only the examples (localhost) and the link to the licence (opensource.org) name a host.
    const script = await request(service.url).get('/api/docs/swagger-ui-init.js').expect(200);
    const mentionedHosts = [...script.text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    expect(new Set(mentionedHosts)).toEqual(new Set(['localhost', 'opensource.org']));
  });
});
