import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const DUMMY_HASH = hash('dummy password', ARGON2ID);

/** Takes about 14 ms of one core, like `verifyPassword`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Checks a password. Takes the same time without a hash; then the result is meaningless. */
export async function verifyPassword(password: string, hashed: string | undefined): Promise<boolean> {
  return verify(hashed ?? (await DUMMY_HASH), password);
}
