import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Repository } from 'typeorm';
import { containing } from '../common/search-query.decorator.js';
import { Product } from './product.entity.js';

/** What an administrator writes of a product. */
export type ProductFields = Pick<Product, 'name' | 'description' | 'price'>;

/** Products of one page of the list (contract 8). */
const PAGE_SIZE = 50;

/**
 * A page of products as the whole body of its answer; null past the last product. SQL text, because PostgreSQL writes
 * the JSON in a fifth of the time that entities and JSON.stringify take. $2 makes a URL of a local image's name, which has no
 * scheme; reading no other column of the images keeps this on their index.
 */
const pageWhere = (condition: string): string => `
  SELECT '{"status":"success","data":{"meta":{"lastProductId":' || max(id) || '},"products":['
    || string_agg(row_to_json(page)::text, ',' ORDER BY id) || ']}}' AS body
  FROM (
    SELECT id, name, description, trim_scale(price) AS price, (
      SELECT array_agg(CASE WHEN url LIKE 'https:%' THEN url ELSE $2 || url END ORDER BY position)
      FROM images WHERE product_id = products.id AND state = 'attached'
    ) AS images
    FROM products WHERE ${condition} ORDER BY id LIMIT ${PAGE_SIZE}
  ) AS page`;
const PAGE = pageWhere('id > $1');
/** Folding keeps the wildcards of a pattern. */
const FOUND_PAGE = pageWhere('id > $1 AND search_name LIKE search_text($3)');

@Injectable()
export class ProductsRepository {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  /**
   * The answer to GET /api/products: at most 50 products after an id, ordered by id.
   * @param localPrefix see `ImagesService`
   * @param search only products whose name contains it; case and accents do not matter
   * @returns null when no product comes after the id
   */
  async page(afterId: number, localPrefix: string, search?: string): Promise<string | null> {
    const [statement, pattern] = search === undefined ? [PAGE, []] : [FOUND_PAGE, [containing(search)]];
    const parameters = [afterId, localPrefix, ...pattern];
    const [row] = await this.products.query<{ body: string | null }[]>(statement, parameters);
    return row?.body ?? null;
  }

  /** A product with its images in their order. */
  findById(id: number): Promise<Product | null> {
    return this.products
      .createQueryBuilder('product')
      .leftJoinAndSelect('product.images', 'image')
      .where('product.id = :id', { id })
      .orderBy('image.position')
      .getOne();
  }

  /** Those of the products that exist, in no particular order. */
  findPriced(ids: readonly number[]): Promise<Pick<Product, 'id' | 'name' | 'price'>[]> {
    return this.products.find({ select: { id: true, name: true, price: true }, where: { id: In(ids) } });
  }

  /** @returns the new product's id */
  async insert(tx: EntityManager, fields: ProductFields): Promise<number> {
    const { generatedMaps } = await tx.insert(Product, fields);
    return (generatedMaps[0] as Pick<Product, 'id'>).id;
  }

  /** Locks a product, so that changes of one product and its images follow one another. */
  async lock(tx: EntityManager, id: number): Promise<boolean> {
    const product = await tx.findOne(Product, {
      select: { id: true },
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    return product !== null;
  }

  async update(tx: EntityManager, id: number, fields: ProductFields): Promise<void> {
    await tx.update(Product, { id }, { ...fields, updatedAt: () => 'now()' });
  }

  async delete(tx: EntityManager, id: number): Promise<void> {
    await tx.delete(Product, { id });
  }
}
