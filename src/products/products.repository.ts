import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import { ImagesService } from '../images/images.service.js';
import type { AdminProductsQuery } from './admin-products.dto.js';
import { isAvailableSql, Product } from './product.entity.js';

const PAGE_SIZE = 50;

const IS_AVAILABLE = isAvailableSql('products');
/** Columns of `AdminProductView` in addition to those of `ListedProductView`. */
const ADMIN_COLUMNS = `, ${IS_AVAILABLE} AS available,
      CASE WHEN NOT ${IS_AVAILABLE} THEN unavailable_until END AS unavailable_until`;

/** Words of a search that count. Further words are ignored, because each one is compared with all names. */
const MAX_WORDS = 8;
/** Separates the words of a search for similar names: `kroisan!` means a croissant. */
const PUNCTUATION = /[.,;:!?"'’()/&-]/g;
/** Shorter words are too similar to each other: `nasi` to `nastar`. A name must contain them. */
const MIN_SIMILAR_LENGTH = 4;
/** `word_similarity` of `coklat` and `cokelat` is 0.5, that of `laptop` and `lapis` 0.43. */
const MIN_SIMILARITY = 0.45;
/** Comparing a name with a word takes 10 µs. A word such as `coklat` can be similar to thousands of names. */
const MAX_COMPARED_NAMES = 500;

@Injectable()
export class ProductsRepository {
  constructor(
    @InjectRepository(Product) private readonly products: Repository<Product>,
    private readonly images: ImagesService,
  ) {}

  /** Returns the response body of GET /api/products; empty if no available product follows `afterId` and matches the search. */
  findPageJson(afterId: number, search?: string): Promise<string> {
    return this.#findPage(afterId, search, [IS_AVAILABLE]);
  }

  /** Returns the response body of GET /api/admin/products; empty if no product follows `last_id` and matches the filters. */
  findAdminPageJson({ last_id: afterId, q, available }: AdminProductsQuery): Promise<string> {
    const filter = available === undefined ? [] : [available ? IS_AVAILABLE : `NOT ${IS_AVAILABLE}`];
    return this.#findPage(afterId, q, filter, ADMIN_COLUMNS);
  }

  #findPage(afterId: number, search: string | undefined, filter: readonly string[], columns?: string) {
    // LIKE, because only LIKE can use the index of `search_name`. `search_text` folds case and accents and keeps the wildcards.
    const patterns = toWords(search ?? '').map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
    const containsWords = patterns.map((_, index) => `search_name LIKE search_text($${index + 3})`);
    const conditions = [...filter, 'id > $2', ...containsWords];
    return this.#readPage(this.products.manager, conditions, [afterId, ...patterns], { columns });
  }

  /**
   * Returns the response body with the products whose names are similar to all words, most similar first, at most 50. Empty if
   * there is none, or if the database lacks the extension pg_trgm. Ranks only the first MAX_COMPARED_NAMES similar names.
   */
  async findSimilarJson(search: string): Promise<string> {
    const words = toWords(search.replaceAll(PUNCTUATION, ' '));
    // pg_trgm ignores signs, so it would find `lapis` for the text `l_pis`.
    if (!words.every((word) => /^[\p{L}\p{M}\p{N}]+$/u.test(word)) || words.every(isShort)) return '';
    const parameters: string[] = [];
    const conditions: string[] = [];
    const scores: string[] = [];
    for (const word of words) {
      const texts = toSpellings(word).map((spelling) => `search_text($${parameters.push(spelling)})`);
      // Not `%> ANY (array)`: PostgreSQL would search the index for each combination of the spellings of all words.
      const similar = texts.map((text) => `search_name %> ${text}`).join(' OR ');
      conditions.push(isShort(word) ? `search_name LIKE '%' || ${texts[0] ?? ''} || '%'` : `(${similar})`);
      // Not `word_similarity`, which compares parts of words too: for `coklat`, the end of `Donat` would rank `Donat Cokelat` before
      // `Cokelat`.
      scores.push(
        `greatest(${texts.map((text) => `strict_word_similarity(${text}, search_name)`).join(', ')})`,
      );
    }
    return this.products.manager.transaction(async (tx) => {
      // The threshold belongs to the operator `%>`. Without the second setting, PostgreSQL compares all names, because it
      // expects that a comparison costs as little as an addition.
      const [settings] = await tx.query<{ canCompare: boolean }[]>(`
        SELECT set_config('pg_trgm.word_similarity_threshold', '${MIN_SIMILARITY}', true),
          set_config('enable_seqscan', 'off', true), to_regproc('word_similarity') IS NOT NULL AS "canCompare"`);
      if (settings?.canCompare !== true) return '';
      const similar = await tx.query<{ id: number }[]>(
        `SELECT id FROM (
           SELECT id, search_name FROM products
           WHERE ${[IS_AVAILABLE, ...conditions].join(' AND ')} LIMIT ${MAX_COMPARED_NAMES}
         ) AS candidate ORDER BY ${scores.join(' + ')} DESC, length(search_name), id LIMIT ${PAGE_SIZE}`,
        parameters,
      );
      const ids = similar.map(({ id }) => id);
      return this.#readPage(tx, [IS_AVAILABLE, 'id = ANY ($2)'], [ids], { order: 'array_position($2, id)' });
    });
  }

  /**
   * Reads a page as a response body; empty for an empty page. SQL text, because PostgreSQL writes the JSON in a fifth of the time
   * that entities and JSON.stringify take. $1 is the URL prefix of local images, whose column `url` contains only a file name.
   * The query of `images` needs only columns of one index (index-only scan).
   * @param parameters from $2 on
   */
  async #readPage(
    manager: EntityManager,
    conditions: readonly string[],
    parameters: readonly unknown[],
    { order = 'id', columns = '' }: { readonly order?: string; readonly columns?: string | undefined },
  ): Promise<string> {
    const [row] = await manager.query<{ body: string | null }[]>(
      `SELECT '{"status":"success","data":{"meta":{"lastProductId":' || (array_agg(id ORDER BY ${order} DESC))[1] || '},"products":['
         || string_agg(row_to_json(page)::text, ',' ORDER BY ${order}) || ']}}' AS body
       FROM (
         SELECT id, name, description, trim_scale(price) AS price, (
           SELECT array_agg(CASE WHEN url LIKE 'https:%' THEN url ELSE $1 || url END ORDER BY position)
           FROM images WHERE product_id = products.id AND state = 'attached'
         ) AS images ${columns}
         FROM products WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ${PAGE_SIZE}
       ) AS page`,
      [this.images.localPrefix, ...parameters],
    );
    return row?.body ?? '';
  }

  countUnavailable(): Promise<number> {
    return this.products.createQueryBuilder('products').where(`NOT ${IS_AVAILABLE}`).getCount();
  }

  async findOrFail(id: number, tx = this.products.manager): Promise<Product> {
    // Not `findOne`, which would read the product and its images with two statements.
    const [product] = await tx.find(Product, {
      where: { id },
      relations: { images: true },
      order: { images: { position: 'ASC' } },
    });
    if (product === undefined) throw failures.notFound();
    return product;
  }

  /** Locks the available products among `ids` against changes, in id order to avoid deadlocks. Waits for changes in progress. */
  lockAvailable(
    tx: EntityManager,
    ids: readonly number[],
  ): Promise<Pick<Product, 'id' | 'name' | 'price'>[]> {
    return tx
      .createQueryBuilder(Product, 'products')
      .select(['products.id', 'products.name', 'products.price'])
      .where(`products.id = ANY (:ids) AND ${IS_AVAILABLE}`, { ids })
      .orderBy('products.id')
      .setLock('pessimistic_read')
      .getMany();
  }

  /**
   * Locks a product against concurrent changes, then reads the product with its images like `findOrFail`. Every change of attached
   * images locks the product first.
   */
  async lockOrFail(tx: EntityManager, id: number): Promise<Product> {
    await tx.findOne(Product, { select: { id: true }, where: { id }, lock: { mode: 'pessimistic_write' } });
    // A second statement: a join in the first one would return the images as they were before the wait for the lock.
    return this.findOrFail(id, tx);
  }
}

function isShort(word: string): boolean {
  return word.length < MIN_SIMILAR_LENGTH;
}

function toWords(search: string): string[] {
  const words = search.split(/\s+/u).filter((word) => word !== '');
  return [...new Set(words.slice(0, MAX_WORDS))];
}

/** Returns the word and its spellings with only `c` or only `k`: `kroisan` means a croissant. */
function toSpellings(word: string): string[] {
  return [...new Set([word, word.replaceAll(/k/giu, 'c'), word.replaceAll(/c/giu, 'k')])];
}
