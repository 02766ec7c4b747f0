import { randomInt, randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import type { Client } from '../../support/client.js';
import { png } from '../../support/pictures.js';
import { form, type ProductAnswer, productOf } from '../../support/products.js';
import { digestOf, imageIdOf } from './external-services.js';
import type { Observer } from './observer.js';

const MAX_IMAGES = 5;

/** A product as its author gave it. */
interface Content {
  readonly name: string;
  readonly price: number;
  /** Digests of the images, in their order. */
  readonly images: readonly string[];
}

interface Kept {
  /** As it was last answered; undefined when the answer to its creation was lost. */
  answered?: ProductAnswer;
  /** Possible states of the product: two if the response to the last change was lost. Null means that it does not exist. */
  candidates: readonly (Content | null)[];
}

/** Creates, changes and deletes products of its own and remembers what was acknowledged. One step at a time. */
export class Catalog {
  acknowledged = 0;
  readonly #kept: Kept[] = [];

  constructor(
    private readonly admin: Client,
    private readonly observer: Observer,
    /** False behind a proxy: another process may list a change up to a second later. */
    private readonly isListedAtOnce = true,
  ) {}

  async step(): Promise<void> {
    // Products in doubt are not changed until the end.
    const certain = this.#kept.filter(
      ({ candidates: [content, ...others] }) => content && others.length === 0,
    );
    const kept = certain[randomInt(10)];
    if (kept === undefined) await this.#create();
    else if (randomInt(10) < 3) await this.#delete(kept);
    else await this.#update(kept);
  }

  async #create(): Promise<void> {
    const { content, files, fields } = newContent();
    const kept: Kept = { candidates: [null, content] };
    this.#kept.push(kept);
    await this.#change(kept, content, form(this.admin.post('/api/products'), fields, files), 201);
  }

  async #update(kept: Kept): Promise<void> {
    // The first image is removed. The others stay before the new ones.
    const [before] = kept.candidates;
    const { id = 0, images } = kept.answered ?? {};
    const { content, files, fields } = newContent(before?.images.slice(1));
    kept.candidates = [before ?? null, content];
    const removal = { ...fields, 'images.removed[]': images?.[0] ?? '' };
    await this.#change(kept, content, form(this.admin.put(`/api/products/${id}`), removal, files), 200);
  }

  async #delete(kept: Kept): Promise<void> {
    kept.candidates = [...kept.candidates, null];
    await this.#change(kept, null, this.admin.delete(`/api/products/${kept.answered?.id ?? 0}`), 204);
  }

  /** Asserts that the cached list shows every acknowledged change at once. */
  async #change(
    kept: Kept,
    content: Content | null,
    request: ReturnType<Client['put']>,
    status: number,
  ): Promise<void> {
    const answer = await this.observer.send(request, status);
    if (answer === undefined) return;
    this.acknowledged += 1;
    kept.candidates = [content];
    if (content !== null) kept.answered = productOf(answer);
    if (!this.isListedAtOnce) return;
    const { id = 0 } = kept.answered ?? {};
    const list = await this.observer.send(this.admin.get(`/api/products?last_id=${id - 1}`), 200, 404);
    if (list === undefined) return;
    const listed = productsOf(list).find((product) => product.id === id);
    if (listed?.name !== content?.name || (listed?.images ?? []).length !== (content?.images ?? []).length)
      this.observer.violations.push(`the list shows product ${id} as ${JSON.stringify(listed)}`);
  }

  /**
   * @param stored the whole catalog by id; this function removes the products of this activity
   * @param held digests of the stored images by id
   */
  verify(stored: Map<number, ProductAnswer>, held: ReadonlyMap<string, string>): void {
    for (const { answered, candidates } of this.#kept) {
      const names = candidates.map((content) => content?.name);
      const product = [...stored.values()].find(
        ({ id, name }) => id === answered?.id || names.includes(name),
      );
      if (product !== undefined) stored.delete(product.id);
      const observed = product === undefined ? null : contentOf(product, held);
      if (!candidates.some((candidate) => JSON.stringify(candidate) === JSON.stringify(observed)))
        this.observer.violations.push(
          `${JSON.stringify(observed)} is stored, not ${JSON.stringify(candidates)}`,
        );
    }
  }
}

/** The whole catalog by id, as the list shows it. */
export async function wholeCatalog(client: Client): Promise<Map<number, ProductAnswer>> {
  const products = new Map<number, ProductAnswer>();
  for (let lastId = 0; ;) {
    const page = productsOf(await client.get(`/api/products?last_id=${lastId}`));
    for (const product of page) products.set(product.id, product);
    if (page.length === 0) return products;
    lastId = Math.max(...products.keys());
  }
}

/** None after the end of the list, which is a 404. */
function productsOf({ body }: Pick<Response, 'body'>): readonly ProductAnswer[] {
  return (body as { data?: { products: ProductAnswer[] } }).data?.products ?? [];
}

function contentOf({ name, price, images }: ProductAnswer, held: ReadonlyMap<string, string>): Content {
  return { name, price, images: (images ?? []).map((url) => held.get(imageIdOf(url)) ?? 'gone') };
}

/** With up to two new pictures after those that stay. */
function newContent(staying: readonly string[] = []) {
  const count = Math.min(randomInt(3), MAX_IMAGES - staying.length);
  const pictures = Array.from({ length: count }, () => png(randomUUID()));
  const content: Content = {
    name: `Kue ${randomUUID()}`,
    price: randomInt(1, 1_000_000),
    images: [...staying, ...pictures.map(digestOf)],
  };
  return {
    content,
    fields: { name: content.name, description: 'Baked', price: String(content.price) },
    files: pictures.map((bytes) => ({ bytes, name: 'kue.png' })),
  };
}
