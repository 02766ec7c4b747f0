import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the counts of wrong guesses, with the columns that `RateLimiterPostgres` of rate-limiter-flexible expects.
 * `expire` is in milliseconds since the epoch. The table is unlogged, so that a wrong password does not wait for the disk. A
 * crash of the database resets the counts, which gives an attacker one more window of guesses.
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
