import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds to each order the payment attempt that its status comes from. */
export class AttemptOfOrder1763810000000 implements MigrationInterface {
  readonly name = 'AttemptOfOrder1763810000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE orders ADD COLUMN attempt_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE orders DROP COLUMN attempt_id');
  }
}
