import { hash, type Options, verify } from '@node-rs/argon2';
import { Limiter } from '../common/limiter.js';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Uses two of libuv's four threads, because reading images needs threads too. 1,000 waiting passwords take 7 seconds. */
const limiter = new Limiter(2, 1000);

const DUMMY_HASH = hash('dummy password', ARGON2ID);

/** Takes about 14 ms of one core, like `verifyPassword`. @throws Failure 503 if too many passwords wait */
export function hashPassword(password: string): Promise<string> {
  return limiter.run(() => hash(password, ARGON2ID));
}

/** Checks a password. Takes the same time without a hash; then the result is meaningless. @throws like `hashPassword` */
export async function verifyPassword(password: string, hashed: string | undefined): Promise<boolean> {
  const expected = hashed ?? (await DUMMY_HASH);
  return limiter.run(() => verify(expected, password));
}
