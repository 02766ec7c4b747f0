import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { toLikePattern } from '../common/query.decorators.js';
import type { AdminProductsQuery } from './availability.dto.js';
import { Product } from './product.entity.js';

type ProductFields = Partial<Omit<Product, 'images'>>;

const PAGE_SIZE = 50;
/** Join with all images of a product. The condition lets PostgreSQL use the index, which contains only attached images. */
const IMAGES = ['product.images', 'image', "image.state = 'attached'"] as const;

/** `Product.isAvailable` in SQL, for statements that name the table `products`. */
const IS_AVAILABLE = '(products.available OR coalesce(products.available_again_at <= now(), false))';

/**
 * Builds the statement that returns a page as a response body, or null for an empty page. SQL text, because PostgreSQL
 * writes the JSON in a fifth of the time that entities and JSON.stringify take. $2 is the URL prefix of local images, whose
 * column `url` contains only a file name. The query of `images` needs only columns of one index (index-only scan).
 */
const buildPageStatement = (wordConditions: readonly string[]): string => `
  SELECT '{"status":"success","data":{"meta":{"lastProductId":' || max(id) || '},"products":['
    || string_agg(row_to_json(page)::text, ',' ORDER BY id) || ']}}' AS body
  FROM (
    SELECT id, name, description, trim_scale(price) AS price, (
      SELECT array_agg(CASE WHEN url LIKE 'https:%' THEN url ELSE $2 || url END ORDER BY position)
      FROM images WHERE product_id = products.id AND state = 'attached'
    ) AS images
    FROM products WHERE ${['id > $1', IS_AVAILABLE, ...wordConditions].join(' AND ')} ORDER BY id LIMIT ${PAGE_SIZE}
  ) AS page`;

@Injectable()
export class ProductsRepository {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  /**
   * Returns the response body of GET /api/products; null if no available product follows `afterId` and matches the search.
   * @param search words that the name must contain, regardless of case and accents
   */
  async findPageJson(afterId: number, localPrefix: string, search?: string): Promise<string | null> {
    const patterns = toPatterns(search);
    const wordConditions = patterns.map((_, index) => `search_name LIKE search_text($${index + 3})`);
    const statement = buildPageStatement(wordConditions);
    const parameters = [afterId, localPrefix, ...patterns];
    const [row] = await this.products.query<{ body: string | null }[]>(statement, parameters);
    return row?.body ?? null;
  }

  /** Returns a page of available and unavailable products with their images, filtered by the query. */
  findPageForAdmin({ q, available, last_id: afterId }: AdminProductsQuery): Promise<Product[]> {
    const ids = this.products
      .createQueryBuilder('products')
      .select('products.id')
      .where('products.id > :afterId', { afterId })
      .orderBy('products.id')
      .limit(PAGE_SIZE);
    for (const [index, pattern] of toPatterns(q).entries())
      ids.andWhere(`products.search_name LIKE search_text(:word${index})`, { [`word${index}`]: pattern });
    if (available !== undefined) ids.andWhere(available ? IS_AVAILABLE : `NOT ${IS_AVAILABLE}`);
    // The page is a subquery: `take` in a query that also sorts by image would count a product once for each image.
    return this.products
      .createQueryBuilder('product')
      .leftJoinAndSelect(...IMAGES)
      .where(`product.id IN (${ids.getQuery()})`, ids.getParameters())
      .orderBy({ 'product.id': 'ASC', 'image.position': 'ASC' })
      .getMany();
  }

  countUnavailable(): Promise<number> {
    return this.products.createQueryBuilder('products').where(`NOT ${IS_AVAILABLE}`).getCount();
  }

  findById(id: number, tx = this.products.manager): Promise<Product | null> {
    return tx
      .createQueryBuilder(Product, 'product')
      .leftJoinAndSelect(...IMAGES)
      .where('product.id = :id', { id })
      .orderBy('image.position')
      .getOne();
  }

  /** Locks the available products among `ids`, in id order to avoid deadlocks. Blocks `lock`, which begins every change. */
  lockAvailable(
    tx: EntityManager,
    ids: readonly number[],
  ): Promise<Pick<Product, 'id' | 'name' | 'price'>[]> {
    return tx
      .createQueryBuilder(Product, 'products')
      .select(['products.id', 'products.name', 'products.price'])
      .where(`products.id = ANY (:ids) AND ${IS_AVAILABLE}`, { ids })
      .orderBy('products.id')
      .setLock('for_key_share')
      .getMany();
  }

  /** @returns the id of the new product */
  async insert(tx: EntityManager, fields: ProductFields): Promise<number> {
    const { generatedMaps } = await tx.insert(Product, fields);
    return (generatedMaps[0] as Product).id;
  }

  /** Locks a product against concurrent changes of it and its images, then reads both. */
  async lock(tx: EntityManager, id: number): Promise<Product | null> {
    await tx.findOne(Product, { select: { id: true }, where: { id }, lock: { mode: 'pessimistic_write' } });
    // A second statement: a join in the first one would return the images as they were before the wait for the lock.
    return this.findById(id, tx);
  }

  async update(tx: EntityManager, id: number, fields: ProductFields): Promise<void> {
    await tx.update(Product, { id }, { ...fields, updatedAt: () => 'now()' });
  }

  async delete(tx: EntityManager, id: number): Promise<void> {
    await tx.delete(Product, { id });
  }
}

/** Returns a LIKE pattern for each word of a search. `search_text` folds case and accents and keeps the wildcards. */
function toPatterns(search = ''): string[] {
  const words = search.split(/\s+/u).filter((word) => word !== '');
  return [...new Set(words)].map(toLikePattern);
}
