import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../common/current-user.decorator.js';
import { isDatabaseUnavailable } from '../common/database-errors.js';
import { failures } from '../common/errors.js';
import { isId } from '../common/ids.js';
import type { ImageForm } from '../images/image-form.pipe.js';
import type { ImageFile } from '../images/image-host.js';
import { type Image, ImagesService, MAX_IMAGES, type StagedImage } from '../images/images.service.js';
import { wholeRupiah } from './price.js';
import { ProductPages } from './product-pages.js';
import type { CreateProductDto, ProductWithUrls, UpdateProductDto } from './products.dto.js';
import { ProductsRepository } from './products.repository.js';

/** Name and price of an available product. */
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

  /** @throws Failure 404, also if the product is hidden from the caller */
  async findFor(caller: Principal | undefined, id: number): Promise<ProductWithUrls> {
    const product = await this.products.findById(id);
    if (product === null || !(product.isAvailable || caller?.role === 'ADMIN')) throw failures.notFound();
    const { images, ...fields } = product;
    return { ...fields, images: this.images.urlsOf(images) };
  }

  /**
   * Returns the offers of the available products among these. Until the transaction ends they do not change: an
   * administrator's change waits for the orders that are being placed.
   */
  async lockOffers(tx: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, Offer>> {
    const available = await this.products.lockAvailable(tx, ids.filter(isId));
    return new Map(available.map(({ id, name, price }) => [id, { name, price: wholeRupiah(price) }]));
  }

  /**
   * Creates a product with its images, or neither.
   * @throws Failure 500 with the documented message if an upload or the service fails, 503 without a database
   */
  async create({ fields, images }: ImageForm<CreateProductDto>): Promise<ProductWithUrls> {
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
   * Replaces a product's fields, removes some of its images and adds new images after the rest; all or nothing.
   * @throws Failure 404; 400 if there would be more than 5 images; 500 if an upload fails
   */
  async update(
    id: number,
    { fields: { 'images.removed': removed, ...fields }, images }: ImageForm<UpdateProductDto>,
  ): Promise<ProductWithUrls> {
    // Check before the upload, to reject early, and again under the lock.
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

  /** Deletes a product. A job deletes its images from the host. @throws Failure 404 */
  async delete(id: number): Promise<void> {
    await this.#change(async (tx) => {
      if (!(await this.products.lock(tx, id))) throw failures.notFound();
      await this.images.condemn(tx, await this.images.attachedTo(tx, id));
      await this.products.delete(tx, id);
    });
  }

  #change<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.pages.clearAfter(this.dataSource.transaction(work));
  }

  /** Uploads images outside of a transaction, and discards them if `use` fails. */
  async #withStaged<T>(
    files: readonly ImageFile[],
    use: (staged: readonly StagedImage[]) => Promise<T>,
  ): Promise<T> {
    const staged = await this.images.stage(files);
    try {
      return await use(staged);
    } catch (error) {
      // Without the database the sweep finds the images, and the response must not wait for a second timeout.
      if (!isDatabaseUnavailable(error)) await this.images.discard(staged);
      throw error;
    }
  }

  /**
   * Divides the images of a product into those that are removed and those that stay.
   * @throws Failure 400 if too many images stay or are added
   */
  #divide(
    attached: readonly Image[],
    removed: readonly string[],
    added: number,
  ): { going: Image[]; staying: Image[] } {
    const isRemoved = (image: Image): boolean => removed.some((url) => this.images.isUrlOf(image, url));
    const staying = attached.filter((image) => !isRemoved(image));
    if (staying.length + added > MAX_IMAGES) throw failures.tooManyImages();
    return { going: attached.filter(isRemoved), staying };
  }
}
