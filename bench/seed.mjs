import { withClient } from '../dist/src/database/with-client.js';

/** Fills a migrated, empty database: products with 0 to 5 images each, one customer, orders with 1 to 3 items. */
export async function seed(databaseUrl, products, orders) {
  await withClient(databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO products (name, description, price)
       SELECT 'Kue lapis ' || n, 'Loaf number ' || n || ', baked in the morning from flour, butter and eggs.',
              (n % 500) * 1000 + 500
       FROM generate_series(1, $1::integer) AS n`,
      [products],
    );
    await client.query(
      `INSERT INTO images (id, host, state, product_id, position, url)
       SELECT id, 'local', 'attached', product_id, position, id || '.jpg'
       FROM (
         SELECT gen_random_uuid() AS id, product_id, position
         FROM generate_series(1, $1::integer) AS product_id
         CROSS JOIN LATERAL generate_series(0, product_id % 6 - 1) AS position
       ) AS image`,
      [products],
    );
    const { rows } = await client.query(
      `INSERT INTO users (fullname, email, password_hash) VALUES ('Bench', 'bench@example.com', '-')
       ON CONFLICT (lower(email)) DO UPDATE SET fullname = excluded.fullname RETURNING id`,
    );
    await client.query(
      `INSERT INTO orders (order_id, user_id, gross_amount, created_at)
       SELECT gen_random_uuid(), $2, 10000 + n, now() - n * interval '1 second'
       FROM generate_series(1, $1::integer) AS n`,
      [orders, rows[0].id],
    );
    await client.query(
      `INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
       SELECT order_id, position, position + 1, 'Kue lapis ' || position + 1, 1000, 1
       FROM orders CROSS JOIN LATERAL generate_series(0, gross_amount % 3) AS position`,
    );
    await client.query('COMMIT');
  });
}
