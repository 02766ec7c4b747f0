import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a table of sessions, filled with the sessions that version 1.1 stores in `users`.
 *
 * The triggers let 1.1 and 1.2 run side by side on one database. `LanguageOfUsers` removes the triggers and
 * the columns in `users`.
 */
export class Sessions1766300000000 implements MigrationInterface {
  readonly name = 'Sessions1766300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sessions (
        id uuid CONSTRAINT sessions_pkey PRIMARY KEY,
        user_id integer NOT NULL CONSTRAINT sessions_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        refresh_token_digest bytea,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '10 days 11 minutes'
      );
      CREATE INDEX sessions_user_id_created_at_idx ON sessions (user_id, created_at);
      CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

      -- Copies to sessions what version 1.1 writes to users: 1.1 updates session_id. Version 1.2 updates session_id only in the
      -- function show_session_to_1_1, where pg_trigger_depth() is 1.
      CREATE FUNCTION apply_session_of_1_1() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (NEW.fullname, NEW.email, NEW.role, NEW.password_hash)
            IS DISTINCT FROM (OLD.fullname, OLD.email, OLD.role, OLD.password_hash) THEN
          DELETE FROM sessions WHERE user_id = NEW.id;
        ELSIF NEW.session_id IS NULL THEN
          DELETE FROM sessions WHERE id = OLD.session_id;
        ELSE
          UPDATE sessions SET refresh_token_digest = NULL, expires_at = now() + interval '11 minutes'
            WHERE user_id = NEW.id AND refresh_token_digest IS NOT NULL;
        END IF;
        IF NEW.session_id IS NOT NULL THEN
          INSERT INTO sessions (id, user_id, refresh_token_digest)
            VALUES (NEW.session_id, NEW.id, NEW.refresh_token_digest);
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER apply_session_of_1_1 AFTER UPDATE OF session_id ON users
        FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION apply_session_of_1_1();

      -- Copies to users the session that version 1.1 reads: the latest session of the account that has a refresh token.
      CREATE FUNCTION show_session_to_1_1() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE account integer := coalesce(NEW.user_id, OLD.user_id);
      BEGIN
        -- After a deletion, only if users contains the deleted session. One statement can delete thousands of sessions, and this
        -- function runs for each of them.
        UPDATE users SET (session_id, refresh_token_digest) = (
            SELECT sessions.id, sessions.refresh_token_digest FROM sessions
            WHERE user_id = account AND sessions.refresh_token_digest IS NOT NULL
            ORDER BY sessions.created_at DESC LIMIT 1
          ) WHERE id = account AND (OLD.id IS NULL OR session_id = OLD.id);
        RETURN NULL;
      END $$;
      CREATE TRIGGER show_new_session_to_1_1 AFTER INSERT ON sessions
        FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION show_session_to_1_1();
      -- Not for expired sessions: 1.1 rejects their tokens anyway, and their removal must not lock accounts.
      CREATE TRIGGER show_ended_session_to_1_1 AFTER DELETE ON sessions
        FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND OLD.expires_at > now())
        EXECUTE FUNCTION show_session_to_1_1();

      -- After the triggers, whose creation keeps 1.1 from writing until this transaction commits.
      INSERT INTO sessions (id, user_id, refresh_token_digest)
        SELECT session_id, id, refresh_token_digest FROM users WHERE session_id IS NOT NULL;
    `);
  }

  /** Version 1.1 continues with the latest session of each account. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER apply_session_of_1_1 ON users;
      DROP FUNCTION apply_session_of_1_1;
      DROP TABLE sessions;
      DROP FUNCTION show_session_to_1_1;
    `);
  }
}
