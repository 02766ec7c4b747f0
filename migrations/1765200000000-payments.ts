import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A request claims a payment attempt by a UUID. The simulator knows of a page that ended before a payment method was
 * chosen.
 */
export class Payments1765200000000 implements MigrationInterface {
  readonly name = 'Payments1765200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE payment_attempts ADD COLUMN claim_id uuid;
      ALTER TABLE simulator_transactions
        DROP CONSTRAINT simulator_transactions_chosen_check,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, payment_type, payment_details, transaction_time) IN (0, 4)
          AND (transaction_status IS NOT NULL OR transaction_id IS NULL)
          AND (transaction_status IN ('cancel', 'expire') OR (transaction_status IS NULL) = (transaction_id IS NULL))
        );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE payment_attempts DROP COLUMN claim_id;
      UPDATE simulator_transactions SET transaction_status = NULL WHERE transaction_id IS NULL;
      ALTER TABLE simulator_transactions
        DROP CONSTRAINT simulator_transactions_chosen_check,
        ADD CONSTRAINT simulator_transactions_chosen_check CHECK (
          num_nulls(transaction_id, transaction_status, payment_type, payment_details, transaction_time) IN (0, 5)
        );
    `);
  }
}
