import type { ExecutionContext } from '@nestjs/common';
import request, { type Response } from 'supertest';
import { importBuilt } from './support/built.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { extractOperations, readOpenApi } from './support/openapi.js';
import type { Access } from './support/operations.js';
import { type HttpMethod, listRoutes, type Route } from './support/routes.js';
import { useService } from './support/service.js';
import { buildClaims, expiredToken, signToken } from './support/tokens.js';

const MALFORMED_FORMS = [
  ['multipart/form-data; boundary=x', '--x\r\nno header'],
  ['multipart/form-data', 'no boundary'],
] as const;
/** Levels of access that require an access cookie. `catalog` requires one with the default value of CATALOG_ACCESS. */
const REQUIRES_COOKIE = ['user', 'catalog', 'admin'] as const;

/** Operation of the OpenAPI document with the access that it declares. Every path parameter is 1. */
type DeclaredRoute = Route & { readonly access: Access };

const service = useService();
let routes: DeclaredRoute[];

beforeAll(async () => {
  routes = extractOperations(await readOpenApi(service)).map(([method, path, operation]) => ({
    method: method as HttpMethod,
    path: path.replaceAll(/\{\w+\}/g, '1'),
    access: operation['x-access'],
  }));
});

function routesWith(...accesses: readonly Access[]): DeclaredRoute[] {
  const found = routes.filter(({ access }) => accesses.includes(access));
  expect(found.length).toBeGreaterThan(0);
  return found;
}

/** Calls a route with an empty body and, unless it is a GET, with malformed forms. */
async function callWithEachBody({ method, path }: Route, accessToken?: string): Promise<Response[]> {
  const cookies = accessToken === undefined ? '' : `accessToken=${accessToken}`;
  const call = () => request(service.url)[method](path).set('Cookie', cookies);
  if (method === 'get') return [await call()];
  const calls = MALFORMED_FORMS.map(([type, form]) => call().set('Content-Type', type).send(form));
  return Promise.all([call(), ...calls]);
}

/** Expects that each route rejects each body with the same failure, which only private caches may store. */
async function expectRejected(
  chosen: readonly Route[],
  accessToken: string | undefined,
  status: number,
  message: string,
): Promise<void> {
  for (const route of chosen)
    for (const response of await callWithEachBody(route, accessToken)) {
      expect([route, response.status]).toEqual([route, status]);
      expectFailure(response, status, message);
      expect(response.headers['cache-control']).toBe('private, no-cache');
    }
}

describe('an operation of the OpenAPI document', () => {
  it.each([
    ['missing', 401, undefined, MESSAGES.missingAccessToken],
    ['expired', 401, () => expiredToken({ role: 'ADMIN' }), MESSAGES.missingAccessToken],
    ['malformed', 400, () => 'rubbish', MESSAGES.malformedAccessToken],
    ['unsigned', 400, () => signToken(buildClaims(), { algorithm: 'none' }), MESSAGES.malformedAccessToken],
  ])(
    'that requires an access cookie rejects a %s one with %i before it reads a form (contract 4.4)',
    async (_what, status, createToken, message) => {
      await expectRejected(routesWith(...REQUIRES_COOKIE), createToken?.(), status, message);
    },
  );

  it('for administrators rejects a USER with 403 before it reads a form', async () => {
    const token = signToken(buildClaims({ role: 'USER' }));
    await expectRejected(routesWith('admin'), token, 403, MESSAGES.adminOnly);
  });

  it('demands neither the role ADMIN nor an access cookie unless it declares so', async () => {
    const token = signToken(buildClaims({ role: 'USER' }));
    for (const route of routesWith('user', 'catalog'))
      for (const { status } of await callWithEachBody(route, token))
        expect([route, status]).not.toEqual([route, 403]);
    for (const route of routesWith('public', 'refresh cookie'))
      for (const { text } of await callWithEachBody(route))
        expect([route, text]).not.toEqual([route, expect.stringContaining(MESSAGES.missingAccessToken)]);
  });

  it('that requires an access cookie rejects HEAD without the cookie like GET', async () => {
    for (const { path } of routesWith(...REQUIRES_COOKIE).filter(({ method }) => method === 'get'))
      await request(service.url).head(path).expect(401);
  });
});

it('a route that declares no access rejects every request', async () => {
  const { JwtCookieGuard } = await importBuilt('src/auth/jwt-cookie.guard.js');
  const guard = service.app.get(JwtCookieGuard, { strict: false });
  // Any function and any class without decorators serve as the handler and its controller.
  const context = { getHandler: () => listRoutes, getClass: () => Map } as unknown as ExecutionContext;
  await expect(guard.canActivate(context)).rejects.toThrow('Map.listRoutes declares no access');
});
