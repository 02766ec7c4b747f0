import pg from 'pg';

type Connected = Parameters<pg.Pool['connect']>[0];

/**
 * The queue's own connections. graphile-worker 0.17 gives one back twice if it stops while its `LISTEN` has no answer and
 * the connection breaks then; the second time is an error that it does not catch and that would end the process.
 */
export class QueuePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    if (connected === undefined) return super.connect();
    super.connect((error, client, release) => {
      let isGivenBack = false;
      const releaseOnce = (problem?: Error | boolean): void => {
        if (!isGivenBack) release(problem);
        isGivenBack = true;
      };
      // With an error there is nothing to give back.
      connected(error, client, error === undefined ? releaseOnce : release);
    });
    return undefined;
  }
}
