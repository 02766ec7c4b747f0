import { importBuilt } from './built.js';
import type { TestDatabase } from './databases.js';
import type { TestService } from './service.js';

/** Clears the cached pages after a change by SQL. Otherwise the service might return an old page for up to a second. */
export async function clearCachedPages({ app }: TestService): Promise<void> {
  const { ProductPages } = await importBuilt('src/products/product-pages.js');
  await app.get(ProductPages).clearAfter(Promise.resolve());
}

export async function insertProducts({ query }: TestDatabase, count: number, description = 'Loaf') {
  await query(
    `INSERT INTO products (name, description, price)
     SELECT 'Bread ' || n, $2::text, n FROM generate_series(1, $1::integer) AS n`,
    [count, description],
  );
}
