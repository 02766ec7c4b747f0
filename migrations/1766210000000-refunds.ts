import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds refunds, and the amount that was refunded for each order.
 *
 * A refund is stored before the gateway is called. Its id is the `refund_key`, under which the call can be repeated. At
 * most one refund of an order waits for its result.
 */
export class Refunds1766210000000 implements MigrationInterface {
  readonly name = 'Refunds1766210000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders ADD COLUMN refunded_amount bigint NOT NULL DEFAULT 0;
      UPDATE orders SET refunded_amount = gross_amount WHERE status = 'refund';
      -- For sales: the included columns save reading the orders of a year.
      CREATE INDEX orders_first_paid_at_idx ON orders (first_paid_at, order_id)
        INCLUDE (status, fraud_status, gross_amount, refunded_amount) WHERE first_paid_at IS NOT NULL;

      CREATE TABLE refunds (
        refund_id uuid CONSTRAINT refunds_pkey PRIMARY KEY,
        order_id uuid NOT NULL CONSTRAINT refunds_order_id_fkey REFERENCES orders (order_id),
        attempt_id uuid NOT NULL,
        transaction_id text NOT NULL,
        gateway_sum bigint NOT NULL,
        amount bigint NOT NULL CONSTRAINT refunds_amount_check CHECK (amount > 0),
        reason varchar(255),
        is_manual boolean NOT NULL,
        state text NOT NULL CONSTRAINT refunds_state_check CHECK (state IN ('requested', 'succeeded', 'rejected')),
        claimed_at timestamptz,
        idempotency_key varchar(255),
        request_digest bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX refunds_order_id_requested_key ON refunds (order_id) WHERE state = 'requested';
      CREATE UNIQUE INDEX refunds_order_id_idempotency_key_key ON refunds (order_id, idempotency_key);

      ALTER TABLE payment_notifications
        ADD COLUMN refund_amount bigint,
        DROP CONSTRAINT payment_notifications_source_check,
        ADD CONSTRAINT payment_notifications_source_check
          CHECK (source IN ('notification', 'reconciliation', 'cancellation', 'refund'));
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE payment_notifications SET source = 'reconciliation' WHERE source = 'refund';
      ALTER TABLE payment_notifications
        DROP COLUMN refund_amount,
        DROP CONSTRAINT payment_notifications_source_check,
        ADD CONSTRAINT payment_notifications_source_check
          CHECK (source IN ('notification', 'reconciliation', 'cancellation'));
      DROP TABLE refunds;
      DROP INDEX orders_first_paid_at_idx;
      ALTER TABLE orders DROP COLUMN refunded_amount;
    `);
  }
}
