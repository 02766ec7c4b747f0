import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Gives every order a time until which it can be paid, and its first payment attempt, as if version 1.3 had stored it. Runs
 * after `Defaults`, so that orders of a process of version 1.2 have the time too.
 */
export class PaymentsOfOldOrders1766461000000 implements MigrationInterface {
  readonly name = 'PaymentsOfOldOrders1766461000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE orders SET pay_until = created_at + interval '24 hours' WHERE pay_until IS NULL;
      ALTER TABLE orders ALTER COLUMN pay_until SET NOT NULL;

      INSERT INTO payment_attempts (attempt_id, order_id, number)
      SELECT order_id, order_id, 1 FROM orders
      WHERE NOT EXISTS (SELECT FROM payment_attempts WHERE payment_attempts.order_id = orders.order_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE orders ALTER COLUMN pay_until DROP NOT NULL');
  }
}
