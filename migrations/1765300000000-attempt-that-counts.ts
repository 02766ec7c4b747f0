import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the latest payment attempt in each pending order. The earlier version looked it up for each notification. An order
 * with one attempt needs no value: this attempt has the id of the order.
 */
export class AttemptThatCounts1765300000000 implements MigrationInterface {
  readonly name = 'AttemptThatCounts1765300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE orders SET attempt_id = latest.attempt_id
      FROM (
        SELECT DISTINCT ON (order_id) order_id, attempt_id FROM payment_attempts WHERE number > 1
        ORDER BY order_id, number DESC
      ) AS latest
      WHERE orders.order_id = latest.order_id AND orders.status = 'pending'
    `);
  }

  /** Changes nothing: the earlier version ignores this column of pending orders. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
