import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { failures } from '../common/errors.js';
import { isPossibleId } from '../common/ids.js';
import { isDatabaseUnavailable } from '../common/database-errors.js';
import type { ImageForm } from '../images/image-files.pipe.js';
import { type AttachedImage, ImagesService, MAX_IMAGES, type StagedImage } from '../images/images.service.js';
import { wholeRupiah } from './price.js';
import type { CreateProductDto, UpdateProductDto } from './products.dto.js';
import { type ProductRow, ProductsRepository } from './products.repository.js';

/** A product with a list of image URLs, empty without images. */
type ProductWithImages = ProductRow & { readonly images: string[] };

/** What an order needs of a product. */
export interface Offer {
  readonly name: string;
  /** Whole rupiah. */
  readonly price: number;
}

/** The catalog (interface.md 4.5 to 4.8). */
@Injectable()
export class ProductsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly products: ProductsRepository,
    private readonly images: ImagesService,
  ) {}

  /** @throws Failure 404 */
  async find(id: number): Promise<ProductRow> {
    const product = await this.products.findById(id);
    if (product === null) throw failures.notFound();
    return product;
  }

  /**
   * What products are sold as: name, and price in whole rupiah, rounded half up. Products that do not exist are left out.
   */
  async offers(ids: readonly number[]): Promise<ReadonlyMap<number, Offer>> {
    const known = await this.products.findPriced(ids.filter(isPossibleId));
    return new Map(known.map(({ id, name, price }) => [id, { name, price: wholeRupiah(price) }]));
  }

  /**
   * Creates a product with its images, or nothing at all.
   * @throws Failure 500 with the documented message when an upload or the service fails, 503 without a database
   */
  async create({ fields, images }: ImageForm<CreateProductDto>): Promise<ProductWithImages> {
    try {
      return await this.#withStaged(images, (staged) =>
        this.dataSource.transaction(async (tx) => {
          const id = await this.products.insert(tx, fields);
          await this.images.attach(tx, id, staged);
          return { id, ...contentOf(fields), images: staged.map(({ url }) => url) };
        }),
      );
    } catch (error) {
      throw isDatabaseUnavailable(error) ? error : failures.productCreation(error);
    }
  }

  /**
   * Replaces a product's fields, removes some of its images and adds new ones after the rest; all or nothing.
   * @throws Failure 404; 400 when it would have more than 5 images; 500 when an upload fails
   */
  async update(
    id: number,
    { fields, images, count }: ImageForm<UpdateProductDto>,
  ): Promise<ProductWithImages> {
    const removed = new Set(fields['images.removed']);
    // Judged before anything is uploaded, and again under the lock, where it counts.
    if (count > MAX_IMAGES) throw failures.tooManyImages();
    if (!(await this.products.exists(id))) throw failures.notFound();
    divide(await this.images.attachedTo(id), removed, count);

    return this.#withStaged(images, (staged) =>
      this.dataSource.transaction(async (tx) => {
        if (!(await this.products.lock(tx, id))) throw failures.notFound();
        const { going, staying } = divide(await this.images.attachedTo(id, tx), removed, count);
        await this.products.update(tx, id, contentOf(fields));
        await this.images.condemn(tx, going);
        await this.images.attach(tx, id, staged, staying);
        return { id, ...contentOf(fields), images: [...staying, ...staged].map(({ url }) => url) };
      }),
    );
  }

  /**
   * Removes a product for good; its images go from the host once this is committed.
   * @throws Failure 404
   */
  async delete(id: number): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      if (!(await this.products.lock(tx, id))) throw failures.notFound();
      await this.images.condemn(tx, await this.images.attachedTo(id, tx));
      await this.products.delete(tx, id);
    });
  }

  /** Uploads outside of any transaction, and gives the images back if what needs them fails. */
  async #withStaged<T>(
    images: ImageForm<unknown>['images'],
    use: (staged: readonly StagedImage[]) => Promise<T>,
  ): Promise<T> {
    const staged = await this.images.stage(images);
    try {
      return await use(staged);
    } catch (error) {
      await this.images.discard(staged.map(({ id }) => id));
      throw error;
    }
  }
}

/**
 * Which images go and which stay. An identifier that the product does not have is taken as already removed.
 * @throws Failure 400 when the staying and the new ones are too many
 */
function divide(
  attached: readonly AttachedImage[],
  removed: ReadonlySet<string>,
  added: number,
): { going: AttachedImage[]; staying: AttachedImage[] } {
  const going = attached.filter(({ url }) => removed.has(url));
  const staying = attached.filter(({ url }) => !removed.has(url));
  if (staying.length + added > MAX_IMAGES) throw failures.tooManyImages();
  return { going, staying };
}

function contentOf({ name, description, price }: CreateProductDto | UpdateProductDto) {
  return { name, description, price };
}
