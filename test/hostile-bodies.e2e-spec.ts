import { CAKE, form } from './support/products.js';
import { startService, type TestService } from './support/service.js';

const NESTED = 40_000;

describe('decisions, Answers: bodies made to upset a validator', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService();
  });

  afterAll(() => service.stop());

  it.each([
    ['a list nested 40,000 deep', `${'['.repeat(NESTED)}${']'.repeat(NESTED)}`, 'validation error'],
    ['an object nested 10,000 deep', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'validation error'],
    ['a constructor that is a text', '{"constructor":"x"}', 'validation error'],
    ['a constructor that is a list', '{"constructor":[1]}', 'validation error'],
    ['a prototype without a constructor', '{"__proto__":{"constructor":null}}', 'validation error'],
    ['a promise', '{"then":"x"}', 'validation error'],
    ['a huge length', '{"length":1e300}', 'validation error'],
  ])('%s as a field or as the whole body is refused', async (_, json, message) => {
    const client = service.client();
    for (const body of [
      json,
      `{"email":${json},"password":"x"}`,
      `{"email":"a@b.example","password":[${json}]}`,
    ]) {
      const answer = await client.post('/api/login').type('json').send(body).expect(400);
      expect(answer.body).toMatchObject({
        status: 'fail',
        errors: { code: 400, message },
      });
    }
    expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('unknown fields of any shape are dropped beside good ones', async () => {
    const hostile = { constructor: 'x', a: { constructor: 'x' }, b: [[[[[[[[1]]]]]]]], then: 'x' };
    const registration = service.client().register({ email: 'hostile@example.com' });
    await registration.send({ ...hostile, role: 'ADMIN' }).expect(201);
    const admin = await service.admin();
    await form(admin.post('/api/products'), {
      ...CAKE,
      'a[constructor]': 'x',
      'b[0][0][0]': 'x',
      then: 'x',
    }).expect(201);
  });
});
