import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the name and contact details of the shop, closed ranges, the cut-off time, slots and the pause.
 *
 * Version 1.2 can ignore the new columns: each is nullable or has a default.
 */
export class ShopDetails1766431000000 implements MigrationInterface {
  readonly name = 'ShopDetails1766431000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE shop
        ADD COLUMN name varchar(100) NOT NULL DEFAULT 'Roti Pagi',
        ADD COLUMN address varchar(300),
        ADD COLUMN phone varchar(32),
        ADD COLUMN whatsapp varchar(32),
        ADD COLUMN website varchar(2000),
        ADD COLUMN language text NOT NULL DEFAULT 'en',
        ADD COLUMN closed_ranges jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN cut_off text,
        ADD COLUMN slot_minutes smallint,
        ADD COLUMN orders_per_slot smallint,
        ADD COLUMN paused_until timestamptz,
        ADD CONSTRAINT shop_language_check CHECK (language IN ('id', 'en')),
        ADD CONSTRAINT shop_slot_minutes_check CHECK (slot_minutes IN (15, 30, 60)),
        ADD CONSTRAINT shop_orders_per_slot_check CHECK (orders_per_slot BETWEEN 1 AND 999);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE shop
        DROP COLUMN name, DROP COLUMN address, DROP COLUMN phone, DROP COLUMN whatsapp, DROP COLUMN website,
        DROP COLUMN language, DROP COLUMN closed_ranges, DROP COLUMN cut_off, DROP COLUMN slot_minutes,
        DROP COLUMN orders_per_slot, DROP COLUMN paused_until;
    `);
  }
}
