import pg from 'pg';
import { countLostConnections } from '../database/with-client.js';
import { WORKERS } from './job-kinds.js';

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

/**
 * Connections of the job queue. graphile-worker 0.17 releases a connection twice if it stops while the response to its
 * `LISTEN` is outstanding and the connection then breaks. The second release throws an error that graphile-worker does
 * not catch and that would end the process. This pool ignores the second release.
 */
export class QueuePool extends pg.Pool {
  constructor(connectionString: string) {
    super({
      connectionString,
      application_name: 'bakery-jobs',
      max: WORKERS,
      connectionTimeoutMillis: 3_000,
      // The timeout of the driver also ends the wait for a response on a connection that was lost without an error.
      query_timeout: 10_000,
      // Pipelining, which a pool does not use. But only with this option, pg 8 closes a connection whose statement timed out.
      pipeline: true,
      keepAlive: true,
    });
    // A lost connection ends the runner, which logs the reason. graphile-worker warns about a pool without these two listeners.
    this.on('error', () => undefined);
    this.on('connect', countLostConnections('jobs'));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return super.connect();
    super.connect((error, client, release) => {
      let isReleased = false;
      const releaseOnce = (problem?: Error | boolean): void => {
        if (!isReleased) release(problem);
        isReleased = true;
      };
      // After an error there is no connection to release.
      callback(error, client, error === undefined ? releaseOnce : release);
    });
    return undefined;
  }
}
