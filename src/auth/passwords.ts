import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const dummyHash = hash('dummy password', ARGON2ID);

/** Takes about 14 ms of one core, like `verifyPassword`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Returns true if the hash is that of the password. Takes the same time without a hash. */
export async function verifyPassword(password: string, hashed: string | undefined): Promise<boolean> {
  const isRight = await verify(hashed ?? (await dummyHash), password);
  return isRight && hashed !== undefined;
}
