import request, { type Response } from 'supertest';
import { importBuilt, importPackage } from './support/built.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { listOperations, type OperationCall } from './support/operations.js';
import { useService } from './support/service.js';
import { buildClaims, signExpiredToken, signToken } from './support/tokens.js';

const SIGNED_IN_OPERATIONS = [...listOperations('user'), ...listOperations('admin')];

const service = await useService();

/** Calls an operation with an empty body and, unless it is a GET, with a malformed form. */
async function callWithEachBody({ method, path }: OperationCall, accessToken?: string): Promise<Response[]> {
  const cookies = accessToken === undefined ? '' : `accessToken=${accessToken}`;
  const call = () => request(service.url)[method](path).set('Cookie', cookies);
  if (method === 'get') return [await call()];
  const malformedForm = call()
    .set('Content-Type', 'multipart/form-data; boundary=x')
    .send('--x\r\nno header');
  return Promise.all([call(), malformedForm]);
}

/** Expects that each operation rejects each body with the same failure, which only private caches may store. */
async function expectRejected(
  chosen: readonly OperationCall[],
  accessToken: string | undefined,
  status: number,
  message: string,
): Promise<void> {
  for (const operation of chosen)
    for (const response of await callWithEachBody(operation, accessToken)) {
      expect([operation, response.status]).toEqual([operation, status]);
      expectFailure(response, status, message);
      expect(response.headers['cache-control']).toBe('private, no-cache');
    }
}

describe('an operation', () => {
  it.each([
    ['missing', 401, undefined, MESSAGES.missingAccessToken],
    ['expired', 401, () => signExpiredToken({ role: 'ADMIN' }), MESSAGES.missingAccessToken],
    ['malformed', 400, () => 'rubbish', MESSAGES.malformedAccessToken],
    ['unsigned', 400, () => signToken(buildClaims(), { algorithm: 'none' }), MESSAGES.malformedAccessToken],
  ])(
    'that requires an access cookie rejects a %s one with %i before it reads a form (contract 4.4)',
    async (_what, status, createToken, message) => {
      await expectRejected(SIGNED_IN_OPERATIONS, createToken?.(), status, message);
    },
  );

  it('for administrators rejects a USER with 403 before it reads a form', async () => {
    const token = signToken(buildClaims({ role: 'USER' }));
    await expectRejected(listOperations('admin'), token, 403, MESSAGES.adminOnly);
  });
});

it('the service does not start with a route that declares no access', async () => {
  const { RouteAccessCheck } = await importBuilt('src/auth/route-access-check.js');
  expect(service.app.get(RouteAccessCheck, { strict: false })).toBeInstanceOf(RouteAccessCheck);
  const { Controller, Get } = await importPackage('@nestjs/common');
  const { DiscoveryModule } = await importPackage('@nestjs/core');
  const { Test } = await importPackage('@nestjs/testing');
  @Controller('recipes')
  class RecipesController {
    @Get()
    list(): string {
      return 'secret';
    }
  }
  const options = {
    imports: [DiscoveryModule],
    providers: [RouteAccessCheck],
    controllers: [RecipesController],
  };
  const module = await Test.createTestingModule(options).compile();
  await expect(module.init()).rejects.toThrow('RecipesController.list declares no access');
});
