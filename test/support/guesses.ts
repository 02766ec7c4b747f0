import type { Response, Test } from 'supertest';
import { expectFailure, MESSAGES } from './failure.js';
import type { Client } from './client.js';
import type { TestService } from './service.js';

/** The prefixes of the keys, one for each limiter of `limits.service.ts`. */
export type Counter =
  'password-from' | 'password-at' | 'code-from' | 'code-at' | 'wrong-of' | 'known' | 'mails-to';

/** A call that a trusted proxy passes on for this address. */
export function from(address: string, test: Test): Test {
  return test.set('X-Forwarded-For', address);
}

export function login(client: Client, address: string, email: string, password: string): Test {
  return from(address, client.post('/api/login').send({ email, password }));
}

/** Sums of what is counted now. */
export async function counts({ database }: TestService): Promise<Partial<Record<Counter, number>>> {
  const { rows } = await database.pool.query<{ counter: Counter; points: number }>(
    `SELECT split_part(key, ':', 1) AS counter, sum(points)::integer AS points FROM attempt_counts
     WHERE expire > extract(epoch FROM now()) * 1000 GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ counter, points }) => [counter, points]));
}

/** As if so many had been counted, of everything that this counter counts already. */
export async function setCounts({ database }: TestService, counter: Counter, points: number): Promise<void> {
  const { rowCount } = await database.pool.query(
    `UPDATE attempt_counts SET points = $2 WHERE key LIKE $1 || ':%'`,
    [counter, points],
  );
  if (rowCount === 0) throw new Error(`nothing was counted by ${counter}`);
}

/** As if this time had passed for everything that is counted. */
export async function ageCounts({ database }: TestService, seconds: number): Promise<void> {
  await database.pool.query('UPDATE attempt_counts SET expire = expire - $1', [seconds * 1000]);
}

export async function forgetCounts({ database }: TestService): Promise<void> {
  await database.pool.query('TRUNCATE attempt_counts');
}

/** What a wrong guess is answered, and nothing that tells of a limit. */
export function expectWrongPassword(response: Response): void {
  expectFailure(response, 400, MESSAGES.credentials);
  expectNoNotice(response);
}

export function expectWrongCode(response: Response): void {
  expectFailure(response, 400, MESSAGES.otp);
  expectNoNotice(response);
}

function expectNoNotice({ headers }: Response): void {
  const names = Object.keys(headers);
  expect(names.filter((name) => /rate-?limit|retry-after|set-cookie/i.test(name))).toEqual([]);
}
