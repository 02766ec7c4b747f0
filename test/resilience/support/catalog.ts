import { randomUUID } from 'node:crypto';
import type { Client } from '../../support/client.js';
import type { TestDatabase } from '../../support/databases.js';
import { png } from '../../support/pictures.js';
import { form, type ProductAnswer, productOf } from '../../support/products.js';
import { digestOf, imageIdOf, type ExternalServices } from './external-services.js';
import type { Observer, Outcome } from './observer.js';
import type { Random } from './random.js';

const MAX_IMAGES = 5;

/** A product as its author gave it. */
interface Content {
  readonly name: string;
  readonly description: string;
  readonly price: number;
  /** Digests of the images, in their order. */
  readonly images: readonly string[];
}

interface Kept {
  /** Undefined when the answer to its creation was lost. */
  id: number | undefined;
  /** What may be stored: one thing, unless the answer to the last change was lost. Null: no such product. */
  candidates: (Content | null)[];
  /** Whether its last acknowledged change was its deletion. */
  isDeleted: boolean;
}

interface Picture {
  readonly bytes: Buffer;
  readonly digest: string;
}

/** Creates, changes and deletes products of its own and remembers what was acknowledged. One step at a time. */
export class Catalog {
  readonly acknowledged = { creates: 0, updates: 0, deletes: 0 };
  readonly #kept: Kept[] = [];

  constructor(
    private readonly admin: Client,
    private readonly external: ExternalServices,
    private readonly observer: Observer,
    private readonly random: Random,
  ) {}

  async step(): Promise<void> {
    const alive = this.#kept.filter(({ id, isDeleted }) => id !== undefined && !isDeleted);
    if (alive.length < 3 || this.random.chance(0.3)) {
      await this.#create();
      return;
    }
    const kept = this.random.pick(alive);
    const known = await this.#look(kept);
    if (known === undefined) return;
    if (this.random.chance(0.3)) await this.#delete(kept);
    else await this.#update(kept, known);
  }

  async #create(): Promise<void> {
    const pictures = this.#pictures(this.random.between(0, 3));
    const content = this.#content(pictures);
    const kept: Kept = { id: undefined, candidates: [null, content], isDeleted: false };
    this.#kept.push(kept);
    const outcome = await this.observer.send(
      form(this.admin.post('/api/products'), fieldsOf(content), filesOf(pictures)),
      [201],
    );
    if (!outcome.isKnown) return;
    kept.id = productOf(outcome.answer).id;
    kept.candidates = [content];
    this.acknowledged.creates += 1;
  }

  async #update(kept: Kept, known: ProductAnswer): Promise<void> {
    const before = known.images ?? [];
    const removed = before.filter(() => this.random.chance(0.4));
    const staying = before.filter((url) => !removed.includes(url));
    const pictures = this.#pictures(this.random.between(0, Math.min(2, MAX_IMAGES - staying.length)));
    const held = await this.external.images();
    const remaining = staying.map((url) => held.get(imageIdOf(url)) ?? 'gone');
    const content = this.#content(pictures, remaining);
    kept.candidates = [...kept.candidates, content];
    const fields = { ...fieldsOf(content), 'images.removed[]': removed.length === 0 ? '' : removed };
    const outcome = await this.observer.send(
      form(this.admin.put(`/api/products/${kept.id ?? 0}`), fields, filesOf(pictures)),
      [200],
    );
    if (!outcome.isKnown) return;
    kept.candidates = [content];
    this.acknowledged.updates += 1;
    await this.#expectListed(kept, content);
  }

  async #delete(kept: Kept): Promise<void> {
    kept.candidates = [...kept.candidates, null];
    const outcome = await this.observer.send(this.admin.delete(`/api/products/${kept.id ?? 0}`), [204]);
    if (!outcome.isKnown) return;
    kept.candidates = [null];
    kept.isDeleted = true;
    this.acknowledged.deletes += 1;
    await this.#expectListed(kept, null);
  }

  /** What was acknowledged stands in the list at once, though the list comes from memory. */
  async #expectListed({ id = 0 }: Kept, content: Content | null): Promise<void> {
    const outcome = await this.observer.send(this.admin.get(`/api/products?last_id=${id - 1}`), [200, 404]);
    if (!outcome.isKnown) return;
    const page = outcome.answer.status === 200 ? productsOf(outcome.answer) : [];
    const product = page.find((listed) => listed.id === id);
    const listed = product === undefined ? null : contentOf(product, await this.external.images());
    if (!same(listed, content)) {
      this.observer.violation(
        `the list shows product ${id} as ${JSON.stringify(listed)}, not ${JSON.stringify(content)}`,
      );
    }
  }

  /** Reads a product and settles what is in doubt of it. @returns undefined when it cannot be read or is gone */
  async #look(kept: Kept): Promise<ProductAnswer | undefined> {
    const outcome = await this.observer.send(this.admin.get(`/api/products/${kept.id ?? 0}`), [200, 404]);
    if (!outcome.isKnown) return undefined;
    const product = outcome.answer.status === 200 ? productOf(outcome.answer) : null;
    await this.#settle(kept, product);
    return product ?? undefined;
  }

  /** @returns whether what is stored is one of the things that may be */
  async #settle(kept: Kept, product: ProductAnswer | null): Promise<boolean> {
    const observed = product === null ? null : contentOf(product, await this.external.images());
    const match = kept.candidates.find((candidate) => same(candidate, observed));
    if (match === undefined) {
      this.observer.violation(
        `product ${kept.id ?? '?'} is ${JSON.stringify(observed)}, not ${JSON.stringify(kept.candidates)}`,
      );
      return false;
    }
    kept.candidates = [match];
    kept.isDeleted ||= match === null;
    return true;
  }

  /**
   * Compares everything with what is stored.
   * @param stored the whole catalog by id; what is this one's is taken out
   */
  async verify(stored: Map<number, ProductAnswer>): Promise<{ lost: number; resurrected: number }> {
    const byName = new Map([...stored.values()].map((product) => [product.name, product]));
    let [lost, resurrected] = [0, 0];
    for (const kept of this.#kept) {
      const names = kept.candidates.flatMap((content) => content?.name ?? []);
      const product =
        kept.id !== undefined ? stored.get(kept.id) : names.map((name) => byName.get(name)).find((it) => it);
      const wasDeleted = kept.isDeleted;
      if (product !== undefined) stored.delete(product.id);
      if (!(await this.#settle(kept, product ?? null))) {
        if (wasDeleted) resurrected += 1;
        else lost += 1;
      }
    }
    return { lost, resurrected };
  }

  #pictures(count: number): Picture[] {
    return Array.from({ length: count }, () => {
      const bytes = png(randomUUID());
      return { bytes, digest: digestOf(bytes) };
    });
  }

  #content(pictures: readonly Picture[], remaining: readonly string[] = []): Content {
    const name = randomUUID();
    return {
      name: `Kue ${name}`,
      description: `Baked as ${name}`,
      price: this.random.between(1, 1_000_000),
      images: [...remaining, ...pictures.map(({ digest }) => digest)],
    };
  }
}

/** The whole catalog by id. */
export async function wholeCatalog(client: Client, observer: Observer): Promise<Map<number, ProductAnswer>> {
  const products = new Map<number, ProductAnswer>();
  for (let lastId = 0; ;) {
    const outcome: Outcome = await observer.send(client.get(`/api/products?last_id=${lastId}`), [200, 404]);
    if (!outcome.isKnown) throw new Error(`the catalog cannot be read: ${observer.violations.join('; ')}`);
    if (outcome.answer.status === 404) return products;
    for (const product of productsOf(outcome.answer)) {
      products.set(product.id, product);
      lastId = product.id;
    }
  }
}

/** The same as the database has it. */
export async function storedCatalog({ pool }: Pick<TestDatabase, 'pool'>): Promise<ProductAnswer[]> {
  const { rows } = await pool.query<ProductAnswer>(
    `SELECT id, name, description, price::float8 AS price,
       (SELECT json_agg(url ORDER BY position) FROM images WHERE product_id = products.id AND state = 'attached')
         AS images
     FROM products ORDER BY id`,
  );
  return rows;
}

function productsOf({ body }: { readonly body: unknown }): ProductAnswer[] {
  return (body as { data: { products: ProductAnswer[] } }).data.products;
}

function contentOf(product: ProductAnswer, held: ReadonlyMap<string, string>): Content {
  return {
    name: product.name,
    description: product.description ?? '',
    price: product.price,
    images: (product.images ?? []).map((url) => held.get(imageIdOf(url)) ?? 'gone'),
  };
}

function same(one: Content | null, other: Content | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function fieldsOf({ name, description, price }: Content): Record<string, string> {
  return { name, description, price: String(price) };
}

function filesOf(pictures: readonly Picture[]) {
  return pictures.map(({ bytes, digest }) => ({ bytes, name: `${digest}.png` }));
}
