import { createRequire } from 'node:module';
import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

// Relative to the compiled file, dist/src/openapi.js.
const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string };

const TAGS = {
  Accounts: 'Registration, sessions and one-time passwords.',
  Products: 'The catalog. Changing it is for administrators.',
  Shop: 'Opening hours and pickup times.',
  Orders: 'Orders of the signed-in customer: create an order, pay on its payment page, poll its status.',
  Administration: 'Orders of all customers, product availability and reports. For administrators.',
  Payments: 'Called by the payment gateway.',
  Images: 'Images of the local image host. Cloudinary serves its images itself.',
  Operation: 'Health, for load balancers and operators.',
} as const;

/** Hides the top bar, and disables the dialog for entering cookies: scripts cannot set HttpOnly cookies. */
const STYLE = `.swagger-ui .topbar, .swagger-ui .auth-wrapper { display: none }
.swagger-ui .authorization__btn { pointer-events: none }`;

/** Builds the OpenAPI document of an application whose global prefix is set. Nest's preview mode is sufficient. */
export function buildOpenApiDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Bakery catalog service')
    .setDescription(
      'Accounts, products with images, orders and payment notifications. Tokens travel in HTTP-only cookies: ' +
        'send credentials with every request. The cookies are `Secure`: some clients send them over plain HTTP to ' +
        'localhost, others only over HTTPS. When an access token expires (401), call `GET /api/refresh` and ' +
        'repeat the request. Every response has the header `X-Request-Id`.\n\nTo try calls on this page, sign in with ' +
        '`POST /api/login` first: the browser keeps the cookies, and sends them with the calls that show a padlock.',
    )
    .setVersion(version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/', 'The address under which this document was loaded')
    .addCookieAuth(
      'accessToken',
      { type: 'apiKey', in: 'cookie', description: 'Token valid for 10 minutes, path /' },
      'accessToken',
    )
    .addCookieAuth(
      'refreshToken',
      { type: 'apiKey', in: 'cookie', description: 'Token valid for 10 days, path /api/refresh' },
      'refreshToken',
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build());
  shareResponses(document);
  return document;
}

/**
 * Moves responses that several operations have in common to `components.responses`. Nest writes them into every operation,
 * which makes the document and the types generated from it several times as long.
 */
function shareResponses(document: OpenAPIObject): void {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path) as Operation[]);
  const uses = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      // Not shared, because they differ in each operation: successes, and failures with field messages.
      if (response === undefined || '$ref' in response || Number(status) < 300) return [];
      const json = JSON.stringify(response);
      return json.includes('"details":') ? [] : [{ json, response, responses, status }];
    }),
  );
  const shared = new Map<string, Response>();
  for (const { json, response, responses, status } of uses) {
    if (uses.filter((other) => other.json === json).length === 1) continue;
    const name = nameResponse(status, response);
    const sameName = shared.get(name) ?? response;
    if (JSON.stringify(sameName) !== json) throw new Error(`two different responses are called ${name}`);
    shared.set(name, response);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  document.components = { ...document.components, responses: Object.fromEntries(shared) };
}

/** Builds a name such as `OriginIsNotAllowed` from the description. Omits the part of each message after its comma. */
function nameResponse(status: string, { description }: Response): string {
  if (status === '304') return 'NotModified';
  const text = description.replaceAll(/,[^;]*/g, '').replaceAll(';', ' or');
  const words = text.match(/\w+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Serves the OpenAPI document at `/api/docs-json` and as a page at `/api/docs`, to which `/` redirects. */
export function serveOpenApi(app: NestExpressApplication): void {
  const adapter = app.getHttpAdapter();
  adapter.get('/', (_request, response) => {
    adapter.redirect(response, 302, '/api/docs');
  });
  // Routes are known only after the application has started, so the first request builds the document.
  SwaggerModule.setup('api/docs', app, () => buildOpenApiDocument(app), {
    // Converting the document to YAML for each request would take too long.
    raw: ['json'],
    customSiteTitle: 'Bakery catalog service: API reference',
    customCss: STYLE,
    swaggerOptions: {
      operationsSorter: 'alpha',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      withCredentials: true,
    },
  });
}
