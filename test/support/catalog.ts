import type { TestDatabase } from './databases.js';

export async function insertProducts({ query }: TestDatabase, count: number, description = 'Loaf') {
  await query(
    `INSERT INTO products (name, description, price)
     SELECT 'Bread ' || n, $2::text, n FROM generate_series(1, $1::integer) AS n`,
    [count, description],
  );
}
