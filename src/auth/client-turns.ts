import type { DataSource, EntityManager } from 'typeorm';
import { FairQueue } from '../common/fair-queue.js';
import type { Client } from '../common/http/client.decorator.js';

/**
 * Uses at most three of libuv's four threads, because reading images needs a thread too. The last of 1,000 waiting passwords
 * is checked after about 7 seconds.
 */
const passwords = new FairQueue(3, 1_000);

/** Leaves most of the ten connections to other requests. While the database hangs, waiting requests get 503 in time. */
const transactions = new FairQueue(3, 1_000, 8_000);

/** Runs work with a password when its client's turn has come. */
export function runInTurn<T>(client: Client, task: () => Promise<T>): Promise<T> {
  return passwords.run(task, turnOf(client));
}

/** Runs a transaction when its client's turn has come. Otherwise one client could occupy all connections to the database. */
export function transactInTurn<T>(
  dataSource: DataSource,
  client: Client,
  work: (tx: EntityManager) => Promise<T>,
): Promise<T> {
  return transactions.run(() => dataSource.transaction(work), turnOf(client));
}

function turnOf({ clientAddress, network48, disconnected }: Client) {
  return { client: network48 ?? clientAddress, disconnected };
}
