import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds an index for the sweep of expired counts, which deletes them in batches. */
export class ExpiredAttemptCounts1766401000000 implements MigrationInterface {
  readonly name = 'ExpiredAttemptCounts1766401000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX attempt_counts_expire_idx ON attempt_counts (expire)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX attempt_counts_expire_idx');
  }
}
