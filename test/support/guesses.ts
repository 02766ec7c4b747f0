import type { Response, Test } from 'supertest';
import { expectFailure } from './failure.js';
import type { TestService } from './service.js';

/** IP addresses: one that the customer has used, one that is unknown, and one of an attacker. */
export const HOME = '192.0.2.1';
export const CAFE = '198.51.100.7';
export const ATTACKER = '203.0.113.9';

/** Sends a request from an address, as a trusted proxy would. */
export function sendFrom(address: string, test: Test): Test {
  return test.set('X-Forwarded-For', address);
}

/**
 * Returns the sum of the current counts of each limit, by the name under which the service stores the limit:
 * - failed logins: `password-from` (per account and address), `password-at` (per account), `wrong-of` (per address)
 * - wrong codes: `code-from` (per account and address), `codes-of` (per address)
 * - mails with a code: `mails-to` (per mailbox), `mails-of` (per address of the client)
 * - `known`: addresses that the owner of an account has used
 */
export async function readCounts({ database }: TestService): Promise<Readonly<Record<string, number>>> {
  const { rows } = await database.pool.query<{ name: string; points: number }>(
    `SELECT split_part(key, ':', 1) AS name, sum(points)::integer AS points FROM attempt_counts
     WHERE expire > extract(epoch FROM now()) * 1000 GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, points }) => [name, points]));
}

/** Overwrites all existing counts of a limit. */
export async function setCounts({ database }: TestService, name: string, points: number): Promise<void> {
  const update = `UPDATE attempt_counts SET points = $2 WHERE key LIKE $1 || ':%'`;
  const { rowCount } = await database.pool.query(update, [name, points]);
  if (rowCount === 0) throw new Error(`nothing was counted by ${name}`);
}

/** Moves all counts into the past. */
export async function ageCounts({ database }: TestService, seconds: number): Promise<void> {
  await database.pool.query('UPDATE attempt_counts SET expire = expire - $1', [seconds * 1000]);
}

export async function clearCounts({ database }: TestService): Promise<void> {
  await database.pool.query('TRUNCATE attempt_counts');
}

/** Asserts the response to a wrong password or code, without any sign of a limit. */
export function expectWrong(response: Response, message: string): void {
  expectFailure(response, 400, message);
  const signs = Object.keys(response.headers).filter((name) =>
    /rate-?limit|retry-after|set-cookie/i.test(name),
  );
  expect(signs).toEqual([]);
}
