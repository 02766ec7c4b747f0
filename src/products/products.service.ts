import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isDatabaseUnavailable } from '../common/database-errors.js';
import { failures } from '../common/errors.js';
import { isId } from '../common/ids.js';
import type { ImageFile } from '../images/image-host.js';
import { type Image, ImagesService, MAX_IMAGES, type StagedImage } from '../images/images.service.js';
import { wholeRupiah } from './price.js';
import { ProductPages } from './product-pages.js';
import type { CreateProductDto, ProductWithUrls, UpdateProductDto } from './products.dto.js';
import { ProductsRepository } from './products.repository.js';

/** What an order needs of a product. */
export interface Offer {
  readonly name: string;
  /** Whole rupiah. */
  readonly price: number;
}

/** The catalog (contract 4.5 to 4.8). */
@Injectable()
export class ProductsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly products: ProductsRepository,
    private readonly pages: ProductPages,
    private readonly images: ImagesService,
  ) {}

  /** @throws Failure 404 */
  async find(id: number): Promise<ProductWithUrls> {
    const product = await this.products.findById(id);
    if (product === null) throw failures.notFound();
    const { images, ...fields } = product;
    return { ...fields, images: images.map((image) => this.images.urlOf(image)) };
  }

  /**
   * What products are sold as: name, and price in whole rupiah, rounded half up. Products that do not exist are left out.
   */
  async offers(ids: readonly number[]): Promise<ReadonlyMap<number, Offer>> {
    const known = await this.products.findPriced(ids.filter(isId));
    return new Map(known.map(({ id, name, price }) => [id, { name, price: wholeRupiah(price) }]));
  }

  /**
   * Creates a product with its images, or nothing at all.
   * @throws Failure 500 with the documented message when an upload or the service fails, 503 without a database
   */
  async create({ images, ...fields }: Readonly<CreateProductDto>): Promise<ProductWithUrls> {
    try {
      return await this.#withStaged(images, (staged) =>
        this.#change(async (tx) => {
          const id = await this.products.insert(tx, fields);
          return { id, ...fields, images: await this.images.attach(tx, id, staged) };
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
    { images, 'images.removed': removed, ...fields }: Readonly<UpdateProductDto>,
  ): Promise<ProductWithUrls> {
    // Judged before anything is uploaded, and again under the lock, where it counts.
    const before = await this.products.findById(id);
    if (before === null) throw failures.notFound();
    this.#divide(before.images, removed, images.length);

    return this.#withStaged(images, (staged) =>
      this.#change(async (tx) => {
        if (!(await this.products.lock(tx, id))) throw failures.notFound();
        const { going, staying } = this.#divide(await this.images.attachedTo(tx, id), removed, staged.length);
        await this.products.update(tx, id, fields);
        await this.images.condemn(tx, going);
        return { id, ...fields, images: await this.images.attach(tx, id, staged, staying) };
      }),
    );
  }

  /**
   * Removes a product for good; its images go from the host once this is committed.
   * @throws Failure 404
   */
  async delete(id: number): Promise<void> {
    await this.#change(async (tx) => {
      if (!(await this.products.lock(tx, id))) throw failures.notFound();
      await this.images.condemn(tx, await this.images.attachedTo(tx, id));
      await this.products.delete(tx, id);
    });
  }

  /** Changes the catalog in one transaction. */
  async #change<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await this.dataSource.transaction(work);
    } finally {
      // After an error too: a commit whose answer was lost looks like one.
      this.pages.clear();
    }
  }

  /** Uploads outside of any transaction, and gives the images back if the work that needs them fails. */
  async #withStaged<T>(
    files: readonly ImageFile[],
    use: (staged: readonly StagedImage[]) => Promise<T>,
  ): Promise<T> {
    const staged = await this.images.stage(files);
    try {
      return await use(staged);
    } catch (error) {
      await this.images.discard(staged.map(({ id }) => id));
      throw error;
    }
  }

  /**
   * Which images of a product go and which stay.
   * @throws Failure 400 when the staying and the new ones are too many
   */
  #divide(
    attached: readonly Image[],
    removed: readonly string[],
    added: number,
  ): { going: Image[]; staying: Image[] } {
    const goes = (image: Image): boolean => removed.some((url) => this.images.isUrlOf(image, url));
    const staying = attached.filter((image) => !goes(image));
    if (staying.length + added > MAX_IMAGES) throw failures.tooManyImages();
    return { going: attached.filter(goes), staying };
  }
}
