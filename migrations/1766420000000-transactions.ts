import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the time until which an order can be paid, the money of surplus transactions, and who did what to an order. Earlier
 * refunds and cancellations become actions without a person. Reconciliation also asks for orders whose payment failed.
 */
export class Transactions1766420000000 implements MigrationInterface {
  readonly name = 'Transactions1766420000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders
        ADD COLUMN pay_until timestamptz,
        ADD COLUMN surplus_amount bigint NOT NULL DEFAULT 0;
      DROP INDEX orders_next_check_at_idx;
      CREATE INDEX orders_next_check_at_idx ON orders (next_check_at)
        WHERE first_paid_at IS NULL AND status IN ('pending', 'authorize', 'capture', 'deny', 'failure', 'expire')
          OR status = 'authorize' OR status = 'capture' AND fraud_status = 'challenge';

      ALTER TABLE payment_notifications
        ADD COLUMN attempt_id uuid,
        DROP CONSTRAINT payment_notifications_outcome_check,
        ADD CONSTRAINT payment_notifications_outcome_check
          CHECK (outcome IN ('applied', 'duplicate', 'late', 'rejected', 'unconfirmed'));

      ALTER TABLE refunds
        ADD COLUMN claim_id uuid,
        ADD COLUMN user_id integer CONSTRAINT refunds_user_id_fkey REFERENCES users (id),
        ADD COLUMN rejection varchar(300),
        ADD COLUMN is_answered boolean NOT NULL DEFAULT true;

      CREATE TABLE order_actions (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT order_actions_pkey PRIMARY KEY,
        order_id uuid NOT NULL CONSTRAINT order_actions_order_id_fkey REFERENCES orders (order_id),
        action text NOT NULL CONSTRAINT order_actions_action_check
          CHECK (action IN ('preparing', 'ready', 'collected', 'new', 'refused', 'cancel', 'refund')),
        user_id integer CONSTRAINT order_actions_user_id_fkey REFERENCES users (id),
        amount bigint,
        reason varchar(255),
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX order_actions_order_id_idx ON order_actions (order_id, id);
      INSERT INTO order_actions (order_id, action, amount, reason, created_at)
      SELECT order_id, 'refund' AS action, amount, reason, updated_at AS at FROM refunds WHERE state = 'succeeded'
      UNION ALL
      SELECT order_id, 'cancel', NULL, NULL, min(received_at) FROM payment_notifications
      WHERE source = 'cancellation' AND outcome = 'applied' GROUP BY order_id
      ORDER BY at;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE order_actions;
      ALTER TABLE refunds
        DROP COLUMN claim_id, DROP COLUMN user_id, DROP COLUMN rejection, DROP COLUMN is_answered;
      UPDATE payment_notifications SET outcome = 'late' WHERE outcome = 'unconfirmed';
      ALTER TABLE payment_notifications
        DROP COLUMN attempt_id,
        DROP CONSTRAINT payment_notifications_outcome_check,
        ADD CONSTRAINT payment_notifications_outcome_check
          CHECK (outcome IN ('applied', 'duplicate', 'late', 'rejected'));
      DROP INDEX orders_next_check_at_idx;
      CREATE INDEX orders_next_check_at_idx ON orders (next_check_at) WHERE status = 'pending';
      ALTER TABLE orders DROP COLUMN pay_until, DROP COLUMN surplus_amount;
    `);
  }
}
