import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { FairQueue } from '../common/fair-queue.js';
import { type Client, toTurn } from '../common/http/client.decorator.js';

/** Minimum time of a task whose duration must not reveal whether an account exists or a limit rejected the request. */
export const MIN_SECRET_TASK_MS = 150;

/** Serves clients in turn, so that customers can sign in while one client sends many requests. */
@Injectable()
export class ClientTurns {
  /**
   * Queue of password tasks. The tasks use at most three of libuv's four threads, because reading images needs a thread too. The
   * last of 1,000 waiting passwords is checked after about 7 seconds.
   */
  readonly #passwords = new FairQueue({ capacity: 3, maxWaiting: 1_000 });
  /** Queue of database tasks. Its tasks use at most three of the ten connections. A request that waits 8 seconds gets 503. */
  readonly #databaseTasks = new FairQueue({ capacity: 3, maxWaiting: 1_000, maxWaitMs: 8_000 });

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs a task that hashes or checks a password.
   * @param minimumMs minimum time from the beginning of the task until this method returns
   */
  runPasswordTask<T>(client: Client, task: () => Promise<T>, minimumMs?: number): Promise<T> {
    return this.#run(this.#passwords, client, task, minimumMs);
  }

  /**
   * Runs a task that locks rows and uses one connection at a time. Without turns, one client could occupy all connections to the
   * database.
   * @param minimumMs as in `runPasswordTask`
   */
  runDatabaseTask<T>(client: Client, task: () => Promise<T>, minimumMs?: number): Promise<T> {
    return this.#run(this.#databaseTasks, client, task, minimumMs);
  }

  /** Runs a database transaction in the turn of its client. */
  runTransaction<T>(client: Client, work: (tx: EntityManager) => Promise<T>, minimumMs?: number): Promise<T> {
    return this.runDatabaseTask(client, () => this.dataSource.transaction(work), minimumMs);
  }

  async #run<T>(queue: FairQueue, client: Client, task: () => Promise<T>, minimumMs?: number): Promise<T> {
    let minimumTime: Promise<void> | undefined;
    const runTask = () => {
      // Start the timer when the turn begins. A timer that also ran during the wait could end before the task.
      if (minimumMs !== undefined) minimumTime = delay(minimumMs);
      return task();
    };
    try {
      return await queue.run(runTask, toTurn(client));
    } finally {
      // After the turn, so that other clients do not wait for it.
      await minimumTime;
    }
  }
}
