import { hash, type Options, verify } from '@node-rs/argon2';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A hash of the same cost, for unknown accounts. */
const UNKNOWN_HASH = hash('no password has this hash', ARGON2ID);

/** Takes about 14 ms of one core, in libuv's thread pool, as does `isPassword`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Whether a password is the one of a hash. Takes as long without a hash, which an unknown account does not have. */
export async function isPassword(password: string, hashed: string | undefined): Promise<boolean> {
  return verify(hashed ?? (await UNKNOWN_HASH), password);
}
