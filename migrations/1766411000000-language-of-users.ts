import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the language of a user. Drops the triggers and columns with which version 1.1 could run beside 1.2, which does not
 * use them.
 */
export class LanguageOfUsers1766411000000 implements MigrationInterface {
  readonly name = 'LanguageOfUsers1766411000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- First users, then sessions, as a login of 1.2 locks them.
      ALTER TABLE users
        ADD COLUMN language text CONSTRAINT users_language_check CHECK (language IN ('id', 'en')),
        DROP COLUMN session_id CASCADE,
        DROP COLUMN refresh_token_digest;
      DROP FUNCTION apply_session_of_1_1;
      DROP TRIGGER show_new_session_to_1_1 ON sessions;
      DROP TRIGGER show_ended_session_to_1_1 ON sessions;
      DROP FUNCTION show_session_to_1_1;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE users
        DROP COLUMN language,
        ADD COLUMN refresh_token_digest bytea,
        ADD COLUMN session_id uuid;

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

      CREATE FUNCTION show_session_to_1_1() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE account integer := coalesce(NEW.user_id, OLD.user_id);
      BEGIN
        UPDATE users SET (session_id, refresh_token_digest) = (
            SELECT sessions.id, sessions.refresh_token_digest FROM sessions
            WHERE user_id = account AND sessions.refresh_token_digest IS NOT NULL
            ORDER BY sessions.created_at DESC LIMIT 1
          ) WHERE id = account AND (OLD.id IS NULL OR session_id = OLD.id);
        RETURN NULL;
      END $$;

      UPDATE users SET session_id = latest.id, refresh_token_digest = latest.refresh_token_digest
        FROM (SELECT DISTINCT ON (user_id) user_id, id, refresh_token_digest FROM sessions
              WHERE refresh_token_digest IS NOT NULL ORDER BY user_id, created_at DESC) AS latest
        WHERE users.id = latest.user_id;

      CREATE TRIGGER apply_session_of_1_1 AFTER UPDATE OF session_id ON users
        FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION apply_session_of_1_1();
      CREATE TRIGGER show_new_session_to_1_1 AFTER INSERT ON sessions
        FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION show_session_to_1_1();
      CREATE TRIGGER show_ended_session_to_1_1 AFTER DELETE ON sessions
        FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND OLD.expires_at > now())
        EXECUTE FUNCTION show_session_to_1_1();
    `);
  }
}
