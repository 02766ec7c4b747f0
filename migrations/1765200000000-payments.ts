import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the UUID with which a request claims a payment attempt. Moves the simulator's notifications into its transactions, and
 * allows a payment page that was canceled or expired before the customer chose a payment method.
 */
export class Payments1765200000000 implements MigrationInterface {
  readonly name = 'Payments1765200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE payment_attempts ADD COLUMN claim_id uuid;
      ALTER TABLE simulator_transactions
        ADD COLUMN notifications jsonb NOT NULL DEFAULT '[]',
        DROP CONSTRAINT simulator_transactions_chosen_check,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, payment_type, payment_details, transaction_time) IN (0, 4)
          AND (transaction_status IS NOT NULL OR transaction_id IS NULL)
          AND (transaction_status IN ('cancel', 'expire') OR (transaction_status IS NULL) = (transaction_id IS NULL))
        );

      UPDATE simulator_transactions SET notifications = (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
          'id', gen_random_uuid(), 'kind', kind, 'status', transaction_status, 'body', body, 'sentAt', created_at,
          'answer', coalesce('HTTP ' || (attempts -> -1 ->> 'status'), 'no answer')) ORDER BY id), '[]')
        FROM simulator_notifications
        WHERE simulator_notifications.order_id = simulator_transactions.order_id);
      DROP TABLE simulator_notifications;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE payment_attempts DROP COLUMN claim_id;

      CREATE TABLE simulator_notifications (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT simulator_notifications_pkey PRIMARY KEY,
        order_id text NOT NULL
          CONSTRAINT simulator_notifications_order_id_fkey REFERENCES simulator_transactions (order_id),
        kind text NOT NULL CONSTRAINT simulator_notifications_kind_check
          CHECK (kind IN ('status', 'again', 'late', 'bad-signature')),
        transaction_status text NOT NULL,
        body text NOT NULL,
        attempts jsonb NOT NULL DEFAULT '[]',
        next_attempt_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX simulator_notifications_order_id_idx ON simulator_notifications (order_id, id);
      INSERT INTO simulator_notifications (order_id, kind, transaction_status, body, attempts, created_at)
      -- Notifications of later versions have no kind.
      SELECT order_id, coalesce(sent ->> 'kind', 'status'), sent ->> 'status', sent ->> 'body',
        jsonb_build_array(jsonb_build_object('at', sent -> 'sentAt', 'status', NULL, 'problem', sent -> 'answer')),
        (sent ->> 'sentAt')::timestamptz
      FROM simulator_transactions, jsonb_array_elements(notifications) AS sent;

      UPDATE simulator_transactions SET transaction_status = NULL WHERE transaction_id IS NULL;
      ALTER TABLE simulator_transactions
        DROP COLUMN notifications,
        DROP CONSTRAINT simulator_transactions_chosen_check,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, transaction_status, payment_type, payment_details, transaction_time) IN (0, 5)
        );
    `);
  }
}
