import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of the payment gateway simulator. Like the real gateway, they know only the id of an order. */
export class Simulator1763700000000 implements MigrationInterface {
  readonly name = 'Simulator1763700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE simulator_transactions (
        order_id text CONSTRAINT simulator_transactions_pkey PRIMARY KEY,
        token text NOT NULL CONSTRAINT simulator_transactions_token_key UNIQUE,
        gross_amount bigint NOT NULL
          CONSTRAINT simulator_transactions_gross_amount_check CHECK (gross_amount > 0),
        items jsonb NOT NULL,
        customer jsonb NOT NULL,
        transaction_id uuid,
        transaction_status text CONSTRAINT simulator_transactions_status_check CHECK (transaction_status IN (
          'capture', 'settlement', 'pending', 'deny', 'cancel',
          'expire', 'failure', 'refund', 'partial_refund', 'authorize'
        )),
        payment_type text,
        payment_details jsonb,
        fraud_status text,
        transaction_time timestamptz,
        settlement_time timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, transaction_status, payment_type, payment_details, transaction_time) IN (0, 5)
        )
      );

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
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE simulator_notifications;
      DROP TABLE simulator_transactions;
    `);
  }
}
