import { hash, type Options, verify } from '@node-rs/argon2';
import type { DataSource, EntityManager } from 'typeorm';
import { FairQueue } from '../common/fair-queue.js';
import type { Client } from '../common/http/client.decorator.js';

/** OWASP Password Storage Cheat Sheet: argon2id with 19 MiB, two passes, one thread. Argon2id is the library's default. */
const ARGON2ID: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Uses at most three of libuv's four threads, because reading images needs a thread too. The last of 1,000 waiting passwords
 * is checked after about 7 seconds.
 */
const queue = new FairQueue(3, 1_000);

const DUMMY_HASH = hash('dummy password', ARGON2ID);

/**
 * Runs work of a request when its client's turn has come.
 * @throws Failure 503 if too many tasks wait; otherwise the error of the task
 */
export function runInTurn<T>(
  { clientAddress, network48, disconnected }: Client,
  task: () => Promise<T>,
): Promise<T> {
  return queue.run(network48 ?? clientAddress, disconnected, task);
}

/** Runs a transaction when its client's turn has come. Otherwise one client could occupy all connections to the database. */
export function transactInTurn<T>(
  dataSource: DataSource,
  client: Client,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  return runInTurn(client, () => dataSource.transaction(work));
}

/** Takes about 14 ms of one core, like `verifyPassword`. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, ARGON2ID);
}

/** Checks a password. Takes the same time without a hash; then the result is meaningless. */
export async function verifyPassword(password: string, hashed: string | undefined): Promise<boolean> {
  return verify(hashed ?? (await DUMMY_HASH), password);
}
