import { importBuilt } from './support/built.js';
import { MESSAGES } from './support/failure.js';
import { sendFrom } from './support/guesses.js';
import { png } from './support/pictures.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';

const LOGINS = 100;

// Each login comes from its own address, so that no limit for guesses applies.
const service = useService({ settings: { TRUSTED_PROXIES: '1' } });

it('while 100 logins wait for the check of their password, an image is downloaded before half of the passwords are checked', async () => {
  const product = await createProduct(await service.admin(), [{ bytes: png(), name: 'cake.png' }]);
  const { pathname } = new URL(product.images[0] ?? '');
  let finished = 0;
  const logins = Array.from({ length: LOGINS }, async (_, index) => {
    // A login with an unknown e-mail checks a password too, so it takes as long as a login with a known one.
    const body = { email: `nobody-${index}@example.com`, password: 'x' };
    await sendFrom(`10.0.0.${index}`, service.client().post('/api/login').send(body)).expect(400);
    finished += 1;
  });
  // When the first login ends, most other logins are still waiting for the check of their password.
  await Promise.race(logins);
  await service.client().get(pathname).expect(200);
  expect(finished).toBeLessThan(LOGINS / 2);
  await Promise.all(logins);
});

it('a Limiter for 2 running and 3 waiting tasks rejects a sixth task with 503, and accepts tasks again after the first five have ended', async () => {
  const { Limiter } = await importBuilt('src/common/limiter.js');
  const limiter = new Limiter(2, 3);
  let [running, mostRunning] = [0, 0];
  const work = async (): Promise<void> => {
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    await new Promise(setImmediate);
    running -= 1;
  };
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => limiter.run(work)));
  expect(mostRunning).toBe(2);
  expect(results.map(({ status }) => status)).toEqual([...Array<string>(5).fill('fulfilled'), 'rejected']);
  expect(results.at(-1)).toMatchObject({ reason: { code: 503, message: MESSAGES.unavailable } });
  await expect(limiter.run(() => Promise.resolve('free again'))).resolves.toBe('free again');
});
