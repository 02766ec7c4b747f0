import { withClient } from '../../database/with-client.js';
import { liftTimeouts } from './tables.js';

/**
 * Runs `act` while no other command has the lock.
 * @param key arbitrary key of the advisory lock. All versions of the service share it
 * @throws Error with the text of `problem` if another command has the lock
 */
export async function withCommandLock<T>(
  databaseUrl: string,
  { key, problem }: { readonly key: number; readonly problem: string },
  act: () => Promise<T>,
): Promise<T> {
  return withClient(databaseUrl, async (holder) => {
    // The lock belongs to a transaction because a pooler in transaction mode does not support locks of a session. READ COMMITTED
    // keeps no snapshot between statements, so a long command does not delay VACUUM.
    await holder.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await liftTimeouts(holder);
    const attempt = `SELECT pg_try_advisory_xact_lock(${key}) AS "isLocked"`;
    const { rows } = await holder.query<{ isLocked: boolean }>(attempt);
    if (rows[0]?.isLocked !== true) throw new Error(problem);
    return await act();
  });
}
