import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Env } from './config/env.js';
import { addExamples } from './common/openapi.examples.js';

/** The OpenAPI document of an application whose prefix is set; its providers need not exist (Nest's preview). */
export function openApiDocument(app: INestApplication, env: Pick<Env, 'publicUrl'>): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Bakery catalog service')
    .setDescription(
      'Accounts, products with images, orders and payment notifications. Tokens travel in HTTP-only cookies: ' +
        'send credentials with every request. When an access token expires (401), call `GET /api/refresh` and ' +
        'repeat the request. Every answer carries `X-Request-Id`.',
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
    )
    .build();
  return addExamples(SwaggerModule.createDocument(app, config));
}

/** Serves the OpenAPI document at `/api/docs-json` and a page to read and try it at `/api/docs`. */
export function serveOpenApi(app: NestExpressApplication, env: Pick<Env, 'publicUrl'>): void {
  SwaggerModule.setup('api/docs', app, () => openApiDocument(app, env), {
    jsonDocumentUrl: 'api/docs-json',
    yamlDocumentUrl: 'api/docs-yaml',
  });
}
