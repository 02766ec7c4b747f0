import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds default values of columns that one version does not write: version 1.2 the time until which an order can be paid, and
 * version 1.3 the time of a request for a code.
 */
export class Defaults1766451000000 implements MigrationInterface {
  readonly name = 'Defaults1766451000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders ALTER COLUMN pay_until SET DEFAULT now() + interval '24 hours';
      ALTER TABLE one_time_passwords ALTER COLUMN requested_at SET DEFAULT now();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders ALTER COLUMN pay_until DROP DEFAULT;
      ALTER TABLE one_time_passwords ALTER COLUMN requested_at DROP DEFAULT;
    `);
  }
}
