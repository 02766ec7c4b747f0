import type { Response, Test } from 'supertest';
import type { TestDatabase } from './databases.js';
import { expectFailure } from './failure.js';

/** IP addresses of clients: one that the customer has used, one that is unknown, and one of an attacker. */
export const HOME = '192.0.2.1';
export const CAFE = '198.51.100.7';
export const ATTACKER = '203.0.113.9';

/** Sends a request as a trusted proxy would for a client with this IP address. */
export function sendFrom(address: string, test: Test): Test {
  return test.set('X-Forwarded-For', address);
}

/** Stored names of the counts. An address is the IP address of a client. A pair is an account and an address. */
const STORED_NAMES = {
  wrongPasswordsOfPair: 'password-from',
  wrongPasswordsOfAccount: 'password-at',
  wrongPasswordsOfAddress: 'wrong-of',
  wrongCodesOfPair: 'code-from',
  /** Tries of a code from all addresses. */
  wrongTriesOfCode: 'code-at',
  wrongCodesOfAddress: 'codes-of',
  mailsToMailbox: 'mails-to',
  mailsOfAddress: 'mails-of',
  resetMailsOfAddress: 'resets-of',
  /** Addresses that the owner of an account has used. */
  knownAddresses: 'known',
} as const;
type CountName = keyof typeof STORED_NAMES;
export type Counts = Readonly<Partial<Record<CountName, number>>>;

/** Asserts that a response rejects a wrong password or code, without a cookie or a header of a rate limit (contract 8). */
export function expectWrong(response: Response, message: string): void {
  expectFailure(response, 400, message);
  const forbidden = Object.keys(response.headers).filter((name) =>
    /rate-?limit|retry-after|set-cookie/i.test(name),
  );
  expect(forbidden).toEqual([]);
}

/** Creates the methods with which tests read and change the counts of guesses and of mails. */
export function createCountMethods(database: TestDatabase) {
  return {
    /** Returns the sum of the counts of each name, without expired counts. */
    async readCounts(): Promise<Counts> {
      const rows = await database.query<{ stored: string; points: number }>(
        `SELECT split_part(key, ':', 1) AS stored, sum(points)::integer AS points FROM attempt_counts
         WHERE expire > extract(epoch FROM now()) * 1000 GROUP BY 1`,
      );
      const names = new Map<string, string>(
        Object.entries(STORED_NAMES).map(([name, stored]) => [stored, name]),
      );
      return Object.fromEntries(rows.map(({ stored, points }) => [names.get(stored) ?? stored, points]));
    },

    /** Overwrites all existing counts of a name. */
    async setCounts(name: CountName, points: number): Promise<void> {
      const update = `UPDATE attempt_counts SET points = $2 WHERE key LIKE $1 || ':%'`;
      const { rowCount } = await database.pool.query(update, [STORED_NAMES[name], points]);
      if (rowCount === 0) throw new Error(`${name} has no counts`);
    },

    /** Lets time pass for all counts. */
    async ageCounts(seconds: number): Promise<void> {
      await database.query('UPDATE attempt_counts SET expire = expire - $1', [seconds * 1000]);
    },

    async countRows(): Promise<number> {
      return (await database.query('SELECT FROM attempt_counts')).length;
    },

    async clearCounts(): Promise<void> {
      await database.query('TRUNCATE attempt_counts');
    },
  };
}
