import type { Response, Test } from 'supertest';
import { built } from './built.js';
import { expectFailure, MESSAGES } from './failure.js';
import type { Client } from './client.js';
import type { TestService } from './service.js';

/** Names of the limits in `limits.service.ts` and `mail-limits.service.ts`. */
export type Counter =
  | 'password-from'
  | 'password-at'
  | 'wrong-of'
  | 'code-from'
  | 'codes-of'
  | 'known'
  | 'mail-to'
  | 'mails-to'
  | 'mails-of';

/** Sends a request from an address, as a trusted proxy would. */
export function from(address: string, test: Test): Test {
  return test.set('X-Forwarded-For', address);
}

export function login(client: Client, address: string, email: string, password: string): Test {
  return from(address, client.post('/api/login').send({ email, password }));
}

/** Reads the number of guesses by outcome from the metrics. */
export async function proofs(
  secret: 'password' | 'code',
): Promise<Record<'ok' | 'wrong' | 'slowed', number>> {
  const { authProofs } = await built('src/common/metrics.js');
  const { values } = await authProofs.get();
  const by = (outcome: string): number =>
    values.find(({ labels }) => labels.secret === secret && labels.outcome === outcome)?.value ?? 0;
  return { ok: by('ok'), wrong: by('wrong'), slowed: by('slowed') };
}

/** Returns the sum of current counts by limit. */
export async function counts({ database }: TestService): Promise<Partial<Record<Counter, number>>> {
  const { rows } = await database.pool.query<{ counter: Counter; points: number }>(
    `SELECT split_part(key, ':', 1) AS counter, sum(points)::integer AS points FROM attempt_counts
     WHERE expire > extract(epoch FROM now()) * 1000 GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ counter, points }) => [counter, points]));
}

/** Overwrites all existing counts of a limit. */
export async function setCounts({ database }: TestService, counter: Counter, points: number): Promise<void> {
  const { rowCount } = await database.pool.query(
    `UPDATE attempt_counts SET points = $2 WHERE key LIKE $1 || ':%'`,
    [counter, points],
  );
  if (rowCount === 0) throw new Error(`nothing was counted by ${counter}`);
}

/** Moves all counts into the past. */
export async function ageCounts({ database }: TestService, seconds: number): Promise<void> {
  await database.pool.query('UPDATE attempt_counts SET expire = expire - $1', [seconds * 1000]);
}

export async function forgetCounts({ database }: TestService): Promise<void> {
  await database.pool.query('TRUNCATE attempt_counts');
}

/** Asserts the response to a wrong password, without any sign of a limit. */
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
