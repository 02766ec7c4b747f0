import { request as sendRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { built } from './built.js';
import type { TestDatabase } from './databases.js';
import type { TestService } from './service.js';
import { until } from './wait.js';

/** An answer as it came, header names in the case and order in which they were sent. */
export interface WireAnswer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One request on a connection of its own, with headers as given, repeated ones included. */
export function wire(
  url: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  method = 'GET',
  body?: Buffer | string,
): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(`${url}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode = 0, rawHeaders } = response;
        const text = Buffer.concat(chunks).toString();
        resolve({ status: statusCode, rawHeaders, headers: response.headers, body: text });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body ?? (headers['content-length'] === undefined ? undefined : '{}'));
  });
}

/** Waits until a service has heard of every change that was committed before the call. */
export async function untilHeard({ app }: TestService): Promise<void> {
  const { ProductChanges } = await built('src/products/listing/product-changes.js');
  await until('the service hears of changes', () =>
    // A connection that breaks meanwhile is replaced.
    app
      .get(ProductChanges)
      .catchUp()
      .catch(() => false),
  );
}

/** Memory that a service's serialised products take up. */
export async function cachedBytes({ app }: TestService): Promise<number> {
  const { ProductListService } = await built('src/products/listing/product-list.service.js');
  return app.get(ProductListService).cachedBytes;
}

/** Adds products by SQL. */
export async function insertProducts(
  { pool }: TestDatabase,
  count: number,
  description = 'Loaf',
): Promise<void> {
  await pool.query(
    `INSERT INTO products (name, description, price)
     SELECT 'Bread ' || n, $2::text, n FROM generate_series(1, $1::integer) AS n`,
    [count, description],
  );
}
