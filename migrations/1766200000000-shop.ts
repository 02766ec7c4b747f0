import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the shop's opening hours, the pickup time of orders, and the availability of products.
 *
 * Version 1.1 can ignore the new columns: each is nullable or has a default. The table `shop` stays empty until an
 * administrator changes the opening hours, because a backup can only be restored into a database without rows.
 */
export class Shop1766200000000 implements MigrationInterface {
  readonly name = 'Shop1766200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE shop (
        id smallint NOT NULL CONSTRAINT shop_id_check CHECK (id = 1),
        time_zone text NOT NULL,
        hours jsonb NOT NULL,
        closed jsonb NOT NULL,
        lead_minutes smallint NOT NULL CONSTRAINT shop_lead_minutes_check CHECK (lead_minutes BETWEEN 0 AND 10080),
        days_ahead smallint NOT NULL CONSTRAINT shop_days_ahead_check CHECK (days_ahead BETWEEN 1 AND 90),
        CONSTRAINT shop_pkey PRIMARY KEY (id)
      );

      ALTER TABLE products
        ADD COLUMN available boolean NOT NULL DEFAULT true,
        ADD COLUMN unavailable_until date,
        ADD COLUMN available_again_at timestamptz,
        ADD CONSTRAINT products_availability_check CHECK (
          (unavailable_until IS NULL) = (available_again_at IS NULL) AND (unavailable_until IS NULL OR NOT available));
      CREATE INDEX products_unavailable_idx ON products (id) WHERE NOT available;

      ALTER TABLE orders
        ADD COLUMN pickup_at timestamptz,
        ADD COLUMN phone varchar(32),
        ADD COLUMN note varchar(500);
      CREATE INDEX orders_pickup_at_idx ON orders (pickup_at, order_id) WHERE pickup_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders DROP COLUMN pickup_at, DROP COLUMN phone, DROP COLUMN note;
      ALTER TABLE products
        DROP CONSTRAINT products_availability_check,
        DROP COLUMN available, DROP COLUMN unavailable_until, DROP COLUMN available_again_at;
      DROP TABLE shop;
    `);
  }
}
