import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the items, payment attempts and payment checks of orders, and the source of each payment event. */
export class Orders1763800000000 implements MigrationInterface {
  readonly name = 'Orders1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders
        ADD COLUMN idempotency_key varchar(255),
        ADD COLUMN request_digest bytea,
        ADD COLUMN checks smallint NOT NULL DEFAULT 0,
        ADD COLUMN next_check_at timestamptz NOT NULL DEFAULT now() + interval '5 minutes';
      CREATE UNIQUE INDEX orders_user_id_idempotency_key_key ON orders (user_id, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
      CREATE INDEX orders_created_at_idx ON orders (created_at DESC, order_id DESC);
      CREATE INDEX orders_status_created_at_idx ON orders (status, created_at DESC, order_id DESC);
      CREATE INDEX orders_next_check_at_idx ON orders (next_check_at) WHERE status = 'pending';

      CREATE TABLE order_items (
        order_id uuid NOT NULL CONSTRAINT order_items_order_id_fkey REFERENCES orders (order_id),
        position smallint NOT NULL,
        product_id integer NOT NULL,
        name varchar(255) NOT NULL,
        price bigint NOT NULL CONSTRAINT order_items_price_check CHECK (price >= 0),
        quantity smallint NOT NULL CONSTRAINT order_items_quantity_check CHECK (quantity BETWEEN 1 AND 999),
        CONSTRAINT order_items_pkey PRIMARY KEY (order_id, position)
      );

      CREATE TABLE payment_attempts (
        attempt_id uuid CONSTRAINT payment_attempts_pkey PRIMARY KEY,
        order_id uuid NOT NULL CONSTRAINT payment_attempts_order_id_fkey REFERENCES orders (order_id),
        number smallint NOT NULL,
        claimed_at timestamptz,
        token text,
        redirect_url text,
        expires_at timestamptz,
        CONSTRAINT payment_attempts_order_id_number_key UNIQUE (order_id, number)
      );

      ALTER TABLE payment_notifications ADD COLUMN source text NOT NULL DEFAULT 'notification'
        CONSTRAINT payment_notifications_source_check
          CHECK (source IN ('notification', 'reconciliation', 'cancellation'));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE payment_notifications DROP COLUMN source;
      DROP TABLE payment_attempts;
      DROP TABLE order_items;
      DROP INDEX orders_next_check_at_idx, orders_status_created_at_idx, orders_created_at_idx,
        orders_user_id_idempotency_key_key;
      ALTER TABLE orders
        DROP COLUMN idempotency_key, DROP COLUMN request_digest,
        DROP COLUMN checks, DROP COLUMN next_check_at;
    `);
  }
}
