import { randomUUID } from 'node:crypto';
import type { Test } from 'supertest';
import type { components } from '../../client/schema.js';
import type { Client } from './client.js';
import type { TestDatabase } from './databases.js';
import { addJob, makeJobsDue } from './jobs.js';
import { createPng } from './pictures.js';

type Schemas = components['schemas'];
/** Product in a response. A list shows null instead of an empty list of images. */
export type ProductBody = Schemas['ListedProductView'];

export interface PageBody {
  readonly data: { readonly meta: Schemas['ProductPageMeta']; readonly products: ProductBody[] };
}

export interface FormFile {
  readonly bytes: Buffer;
  readonly name: string;
  /** Name of the part, by default `images`. */
  readonly field?: string;
}

/** Form fields that create a product. */
export const CAKE = { name: 'Kue lapis', description: 'Eighteen layers', price: '185000' } as const;

/** Form fields that update a product and remove no image. */
export const BREAD = { name: 'Roti', description: 'Soft', price: '12500', 'images.removed[]': '' } as const;

/** Values of form fields; a list is sent as repeated fields. */
export type FormFields = Readonly<Record<string, string | readonly string[]>>;

/** Sends the fields and then the files, in order, as a multipart form. */
export function sendForm(request: Test, fields: FormFields, files: readonly FormFile[] = []): Test {
  // A form without a response fails its test instead of blocking the whole suite.
  void request.timeout({ deadline: 20_000 });
  // Without any part, superagent would not send a form.
  void request.type('multipart/form-data').field('unknown', 'dropped');
  for (const [name, values] of Object.entries(fields)) {
    for (const value of typeof values === 'string' ? [values] : values) void request.field(name, value);
  }
  for (const { bytes, name, field = 'images' } of files) void request.attach(field, bytes, name);
  return request;
}

/** Creates files with different bytes. */
export function createPictures(count: number): FormFile[] {
  return Array.from({ length: count }, (_, index) => ({
    bytes: createPng(randomUUID()),
    name: `${index}.png`,
  }));
}

export async function createProduct(
  admin: Client,
  files: readonly FormFile[] = [],
  fields: FormFields = CAKE,
): Promise<Schemas['ProductView']> {
  const response = await sendForm(admin.post('/api/products'), fields, files).expect(201);
  return productOf(response) as Schemas['ProductView'];
}

/** Returns the product of a response. The contract names the field of a single product `products`, too. */
export function productOf(response: { readonly body: unknown }): ProductBody {
  return (response.body as { data: { products: ProductBody } }).data.products;
}

export async function readProduct(client: Client, id: number): Promise<ProductBody> {
  return productOf(await client.get(`/api/products/${id}`).expect(200));
}

/** Returns the page of products after the product `lastId`, by default the first page; empty if there is no such page. */
export async function listProducts(client: Client, lastId = 0): Promise<ProductBody[]> {
  const response = await client.get(`/api/products?last_id=${lastId}`);
  return response.status === 404 ? [] : (response.body as PageBody).data.products;
}

/** Returns the status of a request for a local image, such as `images?.[0]` of a product. Throws if there is no image. */
export async function readImageStatus({ url }: Client, imageUrl: string | undefined): Promise<number> {
  if (imageUrl === undefined) throw new Error('the product has no such image');
  return (await fetch(new URL(new URL(imageUrl).pathname, url))).status;
}

interface LedgerRow {
  readonly id: string;
  readonly host: string;
  readonly state: string;
  readonly product_id: number | null;
}

export async function readLedger({ pool }: Pick<TestDatabase, 'pool'>): Promise<LedgerRow[]> {
  const { rows } = await pool.query<LedgerRow>(
    'SELECT id, host, state, product_id FROM images ORDER BY product_id, position',
  );
  return rows;
}

/** Inserts a product by SQL. Returns its id. */
export async function insertProduct(
  { database }: { readonly database: TestDatabase },
  price: string | number = 25_000,
  name = 'Croissant',
): Promise<number> {
  const rows = await database.query<{ id: number }>(
    "INSERT INTO products (name, description, price) VALUES ($1, 'From today', $2) RETURNING id",
    [name, price],
  );
  return rows[0]?.id ?? 0;
}

/** Inserts products by SQL. */
export async function insertProducts({ query }: TestDatabase, count: number, description = 'Loaf') {
  await query(
    `INSERT INTO products (name, description, price)
     SELECT 'Bread ' || n, $2::text, n FROM generate_series(1, $1::integer) AS n`,
    [count, description],
  );
}

export async function countProducts({ query }: TestDatabase): Promise<number> {
  return (await query('SELECT FROM products')).length;
}

/**
 * Ages unattached images by 11 minutes, and makes every job due that is not running. The service removes images that are
 * staged for 10 minutes, so this function also enqueues the sweep that removes them, if an image is staged.
 */
export async function letTimePassForImagesAndJobs(database: Pick<TestDatabase, 'pool'>): Promise<void> {
  const { rows } = await database.pool.query<{ state: string }>(
    `UPDATE images SET staged_at = staged_at - interval '11 minutes' WHERE state <> 'attached' RETURNING state`,
  );
  if (rows.some(({ state }) => state === 'staged')) await addJob(database.pool, 'sweep-abandoned-images');
  await makeJobsDue(database.pool);
}
