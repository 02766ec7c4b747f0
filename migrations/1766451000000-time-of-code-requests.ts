import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Version 1.3 does not write the time of a request for a code. Version 1.2, which may run beside it, still does. */
export class TimeOfCodeRequests1766451000000 implements MigrationInterface {
  readonly name = 'TimeOfCodeRequests1766451000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords ALTER COLUMN requested_at SET DEFAULT now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords ALTER COLUMN requested_at DROP DEFAULT');
  }
}
