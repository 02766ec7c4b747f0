import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the payment attempt of orders that are older than the table of attempts. */
export class FirstAttempts1766461000000 implements MigrationInterface {
  readonly name = 'FirstAttempts1766461000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      INSERT INTO payment_attempts (attempt_id, order_id, number)
      SELECT order_id, order_id, 1 FROM orders
      WHERE NOT EXISTS (SELECT FROM payment_attempts WHERE payment_attempts.order_id = orders.order_id)
      ON CONFLICT DO NOTHING;
    `);
  }

  async down(): Promise<void> {
    // The attempts stay: every version reads them like those of other orders.
  }
}
