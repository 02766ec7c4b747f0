import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Moves a payment of the simulator into one JSON column, with the field names of the gateway's messages. Drops the times of
 * creation and settlement, because no code reads them.
 */
export class SimulatedPayment1765700000000 implements MigrationInterface {
  readonly name = 'SimulatedPayment1765700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE simulator_transactions ADD COLUMN payment jsonb;
      UPDATE simulator_transactions
        SET payment = payment_details || jsonb_strip_nulls(jsonb_build_object(
          'transaction_id', transaction_id,
          'transaction_time', to_char(transaction_time AT TIME ZONE 'Asia/Jakarta', 'YYYY-MM-DD HH24:MI:SS'),
          'payment_type', payment_type,
          'fraud_status', fraud_status))
        WHERE transaction_id IS NOT NULL;
      ALTER TABLE simulator_transactions
        DROP CONSTRAINT simulator_transactions_chosen_check,
        DROP COLUMN transaction_id,
        DROP COLUMN payment_type,
        DROP COLUMN payment_details,
        DROP COLUMN fraud_status,
        DROP COLUMN transaction_time,
        DROP COLUMN settlement_time,
        DROP COLUMN created_at,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          (transaction_status IS NOT NULL OR payment IS NULL)
          AND (transaction_status IN ('cancel', 'expire') OR (transaction_status IS NULL) = (payment IS NULL))
        );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE simulator_transactions
        DROP CONSTRAINT simulator_transactions_chosen_check,
        ADD COLUMN transaction_id uuid,
        ADD COLUMN payment_type text,
        ADD COLUMN payment_details jsonb,
        ADD COLUMN fraud_status text,
        ADD COLUMN transaction_time timestamptz,
        ADD COLUMN settlement_time timestamptz,
        ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
      UPDATE simulator_transactions SET
        transaction_id = (payment ->> 'transaction_id')::uuid,
        payment_type = payment ->> 'payment_type',
        payment_details = payment - ARRAY['transaction_id', 'payment_type', 'fraud_status', 'transaction_time'],
        fraud_status = payment ->> 'fraud_status',
        transaction_time = (payment ->> 'transaction_time')::timestamp AT TIME ZONE 'Asia/Jakarta',
        created_at = expires_at - interval '24 hours';
      ALTER TABLE simulator_transactions
        DROP COLUMN payment,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, payment_type, payment_details, transaction_time) IN (0, 4)
          AND (transaction_status IS NOT NULL OR transaction_id IS NULL)
          AND (transaction_status IN ('cancel', 'expire') OR (transaction_status IS NULL) = (transaction_id IS NULL))
        );
    `);
  }
}
