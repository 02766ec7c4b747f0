import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds an id to the session of an account. Tokens contain the id as `jti`. Earlier sessions have no id and end, so their
 * owners sign in again.
 */
export class SessionsById1765000000000 implements MigrationInterface {
  readonly name = 'SessionsById1765000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE users
        ADD COLUMN session_id uuid,
        DROP COLUMN claims_version,
        DROP COLUMN sessions_ended_at
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE users
        DROP COLUMN session_id,
        ADD COLUMN claims_version integer NOT NULL DEFAULT 1,
        ADD COLUMN sessions_ended_at timestamptz
    `);
  }
}
