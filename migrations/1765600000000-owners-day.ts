import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the fulfilment of orders, the time of their first payment, and a search for products by name. An order that was paid
 * more than a week ago counts as collected.
 *
 * The function `search_text` removes case and accents. Its result is stored with each product, because computing it takes
 * longer than comparing it. The index needs the extension pg_trgm. If the server lacks the extension or the role may not
 * create it, there is no index: the search returns the same products but reads all names.
 */
export class OwnersDay1765600000000 implements MigrationInterface {
  readonly name = 'OwnersDay1765600000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders
        ADD COLUMN fulfilment text NOT NULL DEFAULT 'new' CONSTRAINT orders_fulfilment_check
          CHECK (fulfilment IN ('new', 'preparing', 'ready', 'collected', 'refused')),
        ADD COLUMN first_paid_at timestamptz;
      CREATE INDEX orders_fulfilment_created_at_idx ON orders (fulfilment, created_at DESC, order_id DESC);
      UPDATE orders SET first_paid_at = paid.at
        FROM (
          SELECT order_id, min(received_at) AS at FROM payment_notifications
          WHERE outcome = 'applied' AND transaction_status IN ('settlement', 'capture') GROUP BY order_id
        ) AS paid
        WHERE paid.order_id = orders.order_id;
      UPDATE orders SET fulfilment = 'collected'
        WHERE status IN ('settlement', 'capture') AND completed_at < now() - interval '7 days';

      CREATE FUNCTION search_text(written text) RETURNS text
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        RETURN lower(regexp_replace(normalize(written, NFD), '[\\u0300-\\u036f]', '', 'g'));
      ALTER TABLE products ADD COLUMN search_name text GENERATED ALWAYS AS (search_text(name)) STORED;
      DO $$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE INDEX products_search_name_idx ON products USING gin (search_name gin_trgm_ops);
      EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege OR undefined_object THEN
        RAISE NOTICE 'products are searched without an index: %', SQLERRM;
      END $$;
    `);
  }

  /** Keeps the extension, because another application may use it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE products DROP COLUMN search_name;
      DROP FUNCTION search_text;
      ALTER TABLE orders DROP COLUMN fulfilment, DROP COLUMN first_paid_at;
    `);
  }
}
