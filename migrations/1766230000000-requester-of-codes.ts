import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the digest of the client address that requested a one-time password, whose tries are counted separately. */
export class RequesterOfCodes1766230000000 implements MigrationInterface {
  readonly name = 'RequesterOfCodes1766230000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords ADD COLUMN requester text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords DROP COLUMN requester');
  }
}
