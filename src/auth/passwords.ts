import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const dummyHash = hash('dummy password', ARGON2ID);

/** Takes about 14 ms of one core, like `verifyPassword`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Returns true if the password matches the hash. Without a hash, returns false after the same time. */
export async function verifyPassword(password: string, passwordHash: string | undefined): Promise<boolean> {
  const isRight = await verify(passwordHash ?? (await dummyHash), password);
  return isRight && passwordHash !== undefined;
}
