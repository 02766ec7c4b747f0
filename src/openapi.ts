import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Env } from './config/env.js';
import { addExamples } from './common/openapi.examples.js';

/** The groups of the reference, in the order in which a reader needs them. */
const TAGS = {
  Accounts: 'Registration, sessions and one-time passwords.',
  Products: 'The catalog. Changing it is for administrators.',
  Orders: 'Of the signed-in customer: an order is made, paid on the page that it names, and polled.',
  Administration: 'All customers’ orders. For administrators.',
  Payments: 'What the payment gateway calls.',
  Images: 'Pictures of the local image host; those at Cloudinary have addresses there.',
  Operation: 'Health, for load balancers and whoever is on call.',
} as const;

/**
 * The padlocks say which cookie a call needs. A page cannot set such a cookie, so that the form that asks for its value
 * would do nothing: signing in on the page does.
 */
const STYLE = `.swagger-ui .topbar, .swagger-ui .auth-wrapper { display: none }
.swagger-ui .authorization__btn { pointer-events: none }`;

/** The OpenAPI document of an application whose prefix is set; its providers need not exist (Nest's preview). */
export function openApiDocument(app: INestApplication, env: Pick<Env, 'publicUrl'>): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Bakery catalog service')
    .setDescription(
      'Accounts, products with images, orders and payment notifications. Tokens travel in HTTP-only cookies: ' +
        'send credentials with every request. When an access token expires (401), call `GET /api/refresh` and ' +
        'repeat the request. Every answer carries `X-Request-Id`.\n\nTo try calls on this page, sign in with ' +
        '`POST /api/login` first: the browser keeps the cookies, and sends them with the calls that show a padlock.',
    )
    .setVersion('1')
    .addServer(env.publicUrl)
    .addCookieAuth(
      'accessToken',
      { type: 'apiKey', in: 'cookie', description: '10 minutes, path /' },
      'accessToken',
    )
    .addCookieAuth(
      'refreshToken',
      { type: 'apiKey', in: 'cookie', description: '10 days, path /api/refresh' },
      'refreshToken',
    );
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(app, builder.build());
  return addExamples({ ...document, paths: inReadingOrder(document.paths) });
}

/** The paths of a resource together, those of the whole before those of a part. */
function inReadingOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const segments = (path: string): string[] => path.split('/');
  const resourceOf = (path: string): string => segments(path)[2] ?? '';
  const resources = [...new Set(Object.keys(paths).map(resourceOf))];
  const inOrder = Object.entries(paths).sort(
    ([a], [b]) =>
      resources.indexOf(resourceOf(a)) - resources.indexOf(resourceOf(b)) ||
      segments(a).length - segments(b).length,
  );
  return Object.fromEntries(inOrder);
}

/** Serves the OpenAPI document at `/api/docs-json` and a page to read and try it at `/api/docs`. */
export function serveOpenApi(app: NestExpressApplication, env: Pick<Env, 'publicUrl'>): void {
  SwaggerModule.setup('api/docs', app, () => openApiDocument(app, env), {
    jsonDocumentUrl: 'api/docs-json',
    yamlDocumentUrl: 'api/docs-yaml',
    customSiteTitle: 'Bakery catalog service: API reference',
    customCss: STYLE,
    swaggerOptions: { defaultModelsExpandDepth: 0, displayRequestDuration: true, withCredentials: true },
  });
}
