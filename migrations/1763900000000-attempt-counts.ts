import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts of wrong guesses, in the columns that `RateLimiterPostgres` of rate-limiter-flexible expects; `expire`
 * is in milliseconds since the epoch. Unlogged: a wrong password waits for no disk, and a database that crashes forgets
 * the counts, which gives a guesser one more window and a customer nothing to notice.
 */
export class AttemptCounts1763900000000 implements MigrationInterface {
  readonly name = 'AttemptCounts1763900000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE UNLOGGED TABLE attempt_counts (
        key varchar(255) CONSTRAINT attempt_counts_pkey PRIMARY KEY,
        points integer NOT NULL DEFAULT 0,
        expire bigint
      )
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE attempt_counts');
  }
}
