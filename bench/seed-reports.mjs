import { withClient } from '../dist/src/database/with-client.js';
import { ACCOUNTS } from './seed-writes.mjs';

const DAILY_ORDERS = 300;

/**
 * Adds paid orders with 1 to 3 items to a database with accounts. The latest order is paid now, and each day has 300 orders.
 * Nine of ten orders have a pickup time on the day after their payment.
 */
export async function seedPaidOrders(databaseUrl, orders, products) {
  await withClient(databaseUrl, async (client) => {
    // Oldest first, as a shop writes them.
    await client.query(
      `INSERT INTO orders (order_id, user_id, gross_amount, status, fulfilment, created_at, first_paid_at, completed_at,
         pickup_at, phone, payment_type, fraud_status)
       SELECT gen_random_uuid(), 1 + n % $2, 20000 * (1 + n % 3), 'settlement', 'new', paid, paid, paid,
         CASE WHEN n % 10 > 0 THEN paid + interval '1 day' END, '+62 812-3456-7890', 'qris', 'accept'
       FROM generate_series($1::integer, 1, -1) AS n, LATERAL (SELECT now() - n * interval '1 day' / $3::integer) AS at (paid)`,
      [orders, ACCOUNTS, DAILY_ORDERS],
    );
    await client.query(
      `INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
       SELECT order_id, order_id, 1, order_id, 'http://localhost:3000/pay/' || order_id, created_at + interval '1 day' FROM orders`,
    );
    // An order has one item for each 20,000 rupiah. Multiples of two primes spread the items over the products.
    await client.query(
      `INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
       SELECT order_id, position, product, 'Kue lapis ' || product, 20000, 1
       FROM (SELECT *, row_number() OVER (ORDER BY created_at) AS n FROM orders) AS numbered
       CROSS JOIN LATERAL generate_series(0, gross_amount / 20000 - 1) AS position,
         LATERAL (SELECT 1 + (n * 7 + position * 311) % $1::integer AS product) AS sold
       ORDER BY n, position`,
      [products],
    );
  });
}
