import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from '../../support/client.js';
import { createPng } from '../../support/pictures.js';
import { listProducts, type ProductBody, productOf, sendForm } from '../../support/products.js';
import { hashImage, parseImageId } from './external-services.js';
import type { Observer } from './observer.js';

const MAX_IMAGES = 5;

interface Content {
  readonly name: string;
  readonly price: number;
  /** Digests of the images, in the order of the images. */
  readonly images: readonly string[];
}

interface TrackedProduct {
  /** Product as returned by its last acknowledged creation or update; undefined if the creation was not acknowledged. */
  shown?: ProductBody;
  /** Possible states: two if the last change was not acknowledged. Null means that the product does not exist. */
  candidates: readonly (Content | null)[];
}

/** Creates, changes and deletes products, one at a time, and remembers the possible states of each product. */
export class CatalogChanges {
  acknowledgedCount = 0;
  readonly #products: TrackedProduct[] = [];

  constructor(
    private readonly admin: Client,
    private readonly observer: Observer,
  ) {}

  async step(): Promise<void> {
    // Choose only among existing products whose last change is not in doubt. Otherwise `verify` could not tell a second
    // change from the first.
    const certain = this.#products.filter(
      ({ candidates: [content, ...others] }) => content && others.length === 0,
    );
    // The index may exceed this list. The fewer products the list has, the more likely is a creation.
    const product = certain[randomInt(10)];
    if (product === undefined) await this.#create();
    else if (randomInt(10) < 3) await this.#delete(product);
    else await this.#update(product);
  }

  async #create(): Promise<void> {
    const { content, files, fields } = createContent();
    const product: TrackedProduct = { candidates: [null, content] };
    this.#products.push(product);
    await this.#applyChange(product, content, sendForm(this.admin.post('/api/products'), fields, files), 201);
  }

  async #update(product: TrackedProduct): Promise<void> {
    // Remove the first image. The service appends new images to the remaining ones.
    const [before] = product.candidates;
    const { id = 0, images } = product.shown ?? {};
    const { content, files, fields } = createContent(before?.images.slice(1));
    product.candidates = [before ?? null, content];
    const fieldsWithRemoval = { ...fields, 'images.removed[]': images?.[0] ?? '' };
    await this.#applyChange(
      product,
      content,
      sendForm(this.admin.put(`/api/products/${id}`), fieldsWithRemoval, files),
      200,
    );
  }

  async #delete(product: TrackedProduct): Promise<void> {
    product.candidates = [...product.candidates, null];
    await this.#applyChange(product, null, this.admin.delete(`/api/products/${product.shown?.id ?? 0}`), 204);
  }

  async #applyChange(
    product: TrackedProduct,
    content: Content | null,
    request: ReturnType<Client['put']>,
    status: number,
  ): Promise<void> {
    const response = await this.observer.send(request, status);
    if (response === undefined) return;
    this.acknowledgedCount += 1;
    product.candidates = [content];
    if (content !== null) product.shown = productOf(response);
  }

  /**
   * Compares the stored products with the possible states, and records each difference as a violation.
   * @param stored all products of the service by id
   * @param digests digests of the stored images by id
   * @returns ids of the stored products that this object created
   */
  verify(stored: ReadonlyMap<number, ProductBody>, digests: ReadonlyMap<string, string>): number[] {
    const verified: number[] = [];
    for (const { shown, candidates } of this.#products) {
      const names = candidates.map((content) => content?.name);
      const product = [...stored.values()].find(({ id, name }) => id === shown?.id || names.includes(name));
      if (product !== undefined) verified.push(product.id);
      const observed = product === undefined ? null : readContent(product, digests);
      if (!candidates.some((candidate) => JSON.stringify(candidate) === JSON.stringify(observed)))
        this.observer.violations.push(
          `${JSON.stringify(observed)} is stored, not ${JSON.stringify(candidates)}`,
        );
    }
    return verified;
  }
}

export async function readCatalog(client: Client): Promise<Map<number, ProductBody>> {
  const products = new Map<number, ProductBody>();
  for (let lastId = 0; ;) {
    const page = await listProducts(client, lastId);
    for (const product of page) products.set(product.id, product);
    if (page.length === 0) return products;
    lastId = Math.max(...products.keys());
  }
}

function readContent({ name, price, images }: ProductBody, digests: ReadonlyMap<string, string>): Content {
  return {
    name,
    price,
    images: (images ?? []).map((url) => digests.get(parseImageId(url)) ?? 'missing image'),
  };
}

/**
 * Creates content with up to two new images.
 * @param remaining digests of the images that stay before the new ones
 */
function createContent(remaining: readonly string[] = []) {
  const count = Math.min(randomInt(3), MAX_IMAGES - remaining.length);
  const pictures = Array.from({ length: count }, () => createPng(randomUUID()));
  const content: Content = {
    name: `Kue ${randomUUID()}`,
    price: randomInt(1, 1_000_000),
    images: [...remaining, ...pictures.map(hashImage)],
  };
  return {
    content,
    fields: { name: content.name, description: 'Baked', price: String(content.price) },
    files: pictures.map((bytes) => ({ bytes, name: 'kue.png' })),
  };
}
