import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Digest of the network address that asked for a one-time password; wrong tries from elsewhere do not spend its tries. */
export class RequesterOfCodes1766230000000 implements MigrationInterface {
  readonly name = 'RequesterOfCodes1766230000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords ADD COLUMN requester text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE one_time_passwords DROP COLUMN requester');
  }
}
