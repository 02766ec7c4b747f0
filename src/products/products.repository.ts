import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
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

/** Products of one page (interface.md section 8). */
const PAGE_SIZE = 50;

@Injectable()
export class ProductsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** At most 50 products that come after an id, ordered by id. */
  page(afterId: number): Promise<ProductRow[]> {
    return this.dataSource.query<ProductRow[]>(
      `${SELECT_PRODUCTS} WHERE id > $1 ORDER BY id LIMIT ${PAGE_SIZE}`,
      [afterId],
    );
  }

  async findById(id: number): Promise<ProductRow | null> {
    const rows = await this.dataSource.query<ProductRow[]>(`${SELECT_PRODUCTS} WHERE id = $1`, [id]);
    return rows[0] ?? null;
  }

  /** Those of the products that exist, in no particular order. */
  findPriced(ids: readonly number[]): Promise<Pick<Product, 'id' | 'name' | 'price'>[]> {
    return this.dataSource.manager.find(Product, {
      where: { id: In(ids) },
      select: { id: true, name: true, price: true },
    });
  }

  exists(id: number): Promise<boolean> {
    return this.dataSource.manager.existsBy(Product, { id });
  }

  async insert(tx: EntityManager, fields: Pick<Product, 'name' | 'description' | 'price'>): Promise<number> {
    return (await tx.save(tx.create(Product, fields))).id;
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
    await tx.update(Product, { id }, { ...fields, updatedAt: () => 'now()' });
  }

  async delete(tx: EntityManager, id: number): Promise<void> {
    await tx.delete(Product, { id });
  }
}
