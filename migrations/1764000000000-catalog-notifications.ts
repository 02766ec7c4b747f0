import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds triggers that notify every listening process of changed products, also after a change by SQL. Each statement sends
 * one message: the ids, or `all` for more than 100 ids. PostgreSQL delivers the message when the transaction commits.
 */
export class CatalogNotifications1764000000000 implements MigrationInterface {
  readonly name = 'CatalogNotifications1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    // A trigger with transition tables handles one event, so each table has one trigger for each event. The triggers share this
    // function: PostgreSQL plans a branch only when it runs, so a branch may name tables that other triggers do not have.
    await runner.query(`
      CREATE FUNCTION notify_product_changes() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        changes integer;
        ids text;
      BEGIN
        IF TG_OP = 'TRUNCATE' THEN
          PERFORM pg_notify('product_changes', 'all');
          RETURN NULL;
        ELSIF TG_TABLE_NAME = 'products' AND TG_OP = 'UPDATE' THEN
          SELECT count(*), string_agg(id::text, ',') INTO changes, ids FROM (
            SELECT id FROM former UNION SELECT id FROM changed LIMIT 101
          ) AS few;
        ELSIF TG_TABLE_NAME = 'products' THEN
          SELECT count(*), string_agg(id::text, ',') INTO changes, ids FROM (
            SELECT id FROM changed LIMIT 101
          ) AS few;
        ELSIF TG_OP = 'UPDATE' THEN
          SELECT count(*), string_agg(id::text, ',') INTO changes, ids FROM (
            SELECT product_id AS id FROM former WHERE product_id IS NOT NULL
            UNION SELECT product_id FROM changed WHERE product_id IS NOT NULL LIMIT 101
          ) AS few;
        ELSE
          SELECT count(*), string_agg(id::text, ',') INTO changes, ids FROM (
            SELECT product_id AS id FROM changed WHERE product_id IS NOT NULL LIMIT 101
          ) AS few;
        END IF;
        IF changes > 0 THEN
          PERFORM pg_notify('product_changes', CASE WHEN changes > 100 THEN 'all' ELSE ids END);
        END IF;
        RETURN NULL;
      END $$;
    `);
    for (const table of ['products', 'images']) {
      await runner.query(`
        CREATE TRIGGER ${table}_inserted AFTER INSERT ON ${table} REFERENCING NEW TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION notify_product_changes();
        CREATE TRIGGER ${table}_updated AFTER UPDATE ON ${table}
          REFERENCING OLD TABLE AS former NEW TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION notify_product_changes();
        CREATE TRIGGER ${table}_deleted AFTER DELETE ON ${table} REFERENCING OLD TABLE AS changed
          FOR EACH STATEMENT EXECUTE FUNCTION notify_product_changes();
        CREATE TRIGGER ${table}_truncated AFTER TRUNCATE ON ${table}
          FOR EACH STATEMENT EXECUTE FUNCTION notify_product_changes();
      `);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION notify_product_changes() CASCADE');
  }
}
