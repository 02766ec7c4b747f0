import { domainToASCII } from 'node:url';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Length of the column `email` in Unicode code points. */
const MAX_LENGTH = 254;

interface Account {
  readonly id: number;
  readonly email: string;
}

/**
 * Writes the domains of stored email addresses in their ASCII form, as every request does from now on. Skips an account if
 * the resulting address is too long or already belongs to another account (docs/decisions/09).
 */
export class AsciiDomains1766220000000 implements MigrationInterface {
  readonly name = 'AsciiDomains1766220000000';

  async up(runner: QueryRunner): Promise<void> {
    const accounts = (await runner.query(
      `SELECT id, email FROM users WHERE substring(email FROM '[^@]*$') ~ '[^\\x01-\\x7f]' ORDER BY id`,
    )) as Account[];
    for (const { id, email } of accounts) {
      const start = email.lastIndexOf('@') + 1;
      const domain = domainToASCII(email.slice(start));
      const converted = email.slice(0, start) + domain;
      // A condition in the statement would be too late: PostgreSQL rejects a text that is too long for the column already when
      // it plans the statement.
      if (domain === '' || Array.from(converted).length > MAX_LENGTH) continue;
      await runner.query(
        `UPDATE users SET email = $2
         WHERE id = $1 AND NOT EXISTS (SELECT FROM users AS other WHERE lower(other.email) = lower($2))`,
        [id, converted],
      );
    }
  }

  /** Changes nothing: the former spelling is not stored, and both spellings name the same mailbox. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
