import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import { Block, BLOCK_IDS, blockOf, type Fragment } from './listing/block.js';
import { type ListPage, PAGE_SIZE } from './listing/list-page.js';
import { ListReads } from './listing/list-reads.js';
import { ProductWrites } from './listing/product-writes.js';
import { Product } from './product.entity.js';

/** A product with the URLs of its images in their order, null without images. */
export interface ProductRow {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  /** Rupiah, as PostgreSQL writes a decimal. */
  readonly price: string;
  readonly images: string[] | null;
}

/** One statement, an index scan for each of its two tables; the ledger's row says which images are shown. */
const SELECT_PRODUCTS = `
  SELECT id, name, description, price,
    (SELECT array_agg(url ORDER BY position) FROM images
     WHERE images.product_id = products.id AND images.state = 'attached') AS images
  FROM products`;

/**
 * Products as the list shows them, each as the JSON text of a `ListedProductView`: PostgreSQL writes it at a fifth of
 * the time that rows, objects and JSON.stringify take in Node, and what is cached is what it wrote. `OFFSET 0` keeps
 * the planner from writing each text twice, for the page and for its digest.
 */
const fragments = (condition: string, limit = '') => `
  SELECT id, row_to_json(listed)::text AS json FROM (
    SELECT id, name, description, trim_scale(price) AS price,
      (SELECT array_agg(url ORDER BY position) FROM images
       WHERE images.product_id = products.id AND images.state = 'attached') AS images
    FROM products WHERE ${condition} ORDER BY id ${limit}
  ) AS listed OFFSET 0`;
const DIGEST = 'hashtextextended(json, 0)';

/** Named, so that each connection parses and plans it once. */
const PAGE = {
  name: 'product-page',
  text: `SELECT max(id) AS "lastId", string_agg(json, ',' ORDER BY id) AS json, sum(${DIGEST}) AS digest
    FROM (${fragments('id > $1', `LIMIT ${PAGE_SIZE}`)}) AS page`,
};
/** Two blocks, and after them the id with which the catalog goes on, without a text. Past the largest id, a bigint. */
const BLOCKS = {
  name: 'product-blocks',
  text: `SELECT id, json, ${DIGEST} AS digest FROM (${fragments('id >= $1::bigint AND id < $2::bigint')}) AS blocks
    UNION ALL (SELECT id, NULL, NULL FROM products WHERE id >= $2::bigint ORDER BY id LIMIT 1)
    ORDER BY id`,
};

interface PageRow {
  /** Null, as the others, when there is no product. */
  readonly lastId: number | null;
  readonly json: string;
  readonly digest: string;
}

const INSERT = {
  name: 'product-insert',
  text: 'INSERT INTO products (name, description, price) VALUES ($1, $2, $3) RETURNING id',
};
const PRICED = {
  name: 'products-priced',
  text: 'SELECT id, name, price FROM products WHERE id = ANY ($1::integer[])',
};

@Injectable()
export class ProductsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly listReads: ListReads,
    private readonly writes: ProductWrites,
  ) {}

  /** At most 50 products that come after an id, ordered by id, serialised; null without any. */
  async page(afterId: number): Promise<ListPage | null> {
    const [row] = await this.listReads.query<PageRow>(PAGE, [afterId]);
    if (row === undefined || row.lastId === null) return null;
    return { pieces: [row.json], lastId: row.lastId, digest: BigInt.asUintN(64, BigInt(row.digest)) };
  }

  /** The products of a block and of the one after it. */
  async blocks(index: number): Promise<readonly [Block, Block]> {
    const middle = (index + 1) * BLOCK_IDS;
    const rows = await this.listReads.query<Fragment | { readonly id: number; readonly json: null }>(BLOCKS, [
      index * BLOCK_IDS,
      middle + BLOCK_IDS,
    ]);
    const found = rows.filter((row) => row.json !== null);
    const first = found.filter(({ id }) => id < middle);
    const second = found.filter(({ id }) => id >= middle);
    const last = rows.at(-1);
    const following = last?.json === null ? blockOf(last.id) : null;
    return [
      new Block(index, first, second.length > 0 ? index + 1 : following),
      new Block(index + 1, second, following),
    ];
  }

  async findById(id: number): Promise<ProductRow | null> {
    const rows = await this.dataSource.query<ProductRow[]>(`${SELECT_PRODUCTS} WHERE id = $1`, [id]);
    return rows[0] ?? null;
  }

  /** Those of the products that exist, in no particular order. */
  findPriced(ids: readonly number[]): Promise<Pick<Product, 'id' | 'name' | 'price'>[]> {
    return queryNamed(this.dataSource.manager, PRICED, [ids]);
  }

  exists(id: number): Promise<boolean> {
    return this.dataSource.manager.existsBy(Product, { id });
  }

  async insert(tx: EntityManager, fields: Pick<Product, 'name' | 'description' | 'price'>): Promise<number> {
    const { name, description, price } = fields;
    const [row] = await queryNamed<{ id: number }>(tx, INSERT, [name, description, price]);
    if (row === undefined) throw new Error('a product was inserted and has no id');
    this.writes.note(tx, row.id);
    return row.id;
  }

  /** Locks a product, so that changes of one product and its images follow one another. */
  async lock(tx: EntityManager, id: number): Promise<boolean> {
    const product = await tx.findOne(Product, {
      where: { id },
      select: { id: true },
      lock: { mode: 'pessimistic_write' },
    });
    return product !== null;
  }

  async update(
    tx: EntityManager,
    id: number,
    fields: Pick<Product, 'name' | 'description' | 'price'>,
  ): Promise<void> {
    this.writes.note(tx, id);
    await tx.update(Product, { id }, { ...fields, updatedAt: () => 'now()' });
  }

  async delete(tx: EntityManager, id: number): Promise<void> {
    this.writes.note(tx, id);
    await tx.delete(Product, { id });
  }
}
