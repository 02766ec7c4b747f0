import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In } from 'typeorm';
import type { AuthUser } from '../common/access.js';
import { startOfDay, toLocalDate } from '../common/calendar.js';
import { isDatabaseUnavailable } from '../common/errors/error-info.js';
import { failures } from '../common/errors/failures.js';
import { assertIfMatch } from '../common/http/if-match.js';
import { isId } from '../common/validation/whole-number.js';
import type { ImageForm } from '../images/image-form.decorator.js';
import { MAX_IMAGES } from '../images/image-host.js';
import type { Image } from '../images/image.entity.js';
import { ImagesService } from '../images/images.service.js';
import { ShopService } from '../shop/shop.service.js';
import { UsersService } from '../users/users.service.js';
import { type AvailabilityDto, INVALID_UNTIL, UNTIL_NOT_ALLOWED } from './admin-products.dto.js';
import { ProductPages } from './product-pages.js';
import { Product } from './product.entity.js';
import {
  type CreateProductDto,
  toProductEtag,
  type ProductWithUrls,
  type UpdateProductDto,
} from './products.dto.js';
import { ProductsRepository } from './products.repository.js';

/** Name and price of an available product. */
export interface Offer {
  readonly name: string;
  /** Whole rupiah. */
  readonly price: number;
}

/** Reads and changes the products (contract 4.5 to 4.8). */
@Injectable()
export class ProductsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly products: ProductsRepository,
    private readonly pages: ProductPages,
    private readonly images: ImagesService,
    private readonly shop: ShopService,
    private readonly users: UsersService,
  ) {}

  /** @throws Failure 404 for an unknown product and, unless the user is an administrator, for an unavailable product */
  async findFor(authUser: AuthUser | undefined, id: number): Promise<ProductWithUrls> {
    const product = await this.products.findOrFail(id);
    if (!product.isAvailable && !(await this.users.isAdmin(authUser))) throw failures.notFound();
    return this.#withUrls(product);
  }

  countUnavailable(): Promise<number> {
    return this.products.countUnavailable();
  }

  /**
   * Returns the offers of the products with these ids, except unavailable products. The offers do not change until the
   * transaction ends: an administrator's change waits for the orders that are being placed.
   */
  async lockOffers(tx: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, Offer>> {
    // A request may contain ids beyond PostgreSQL's `integer`. No product has such an id.
    const available = await this.products.lockAvailable(tx, ids.filter(isId));
    // Rounds half up. A price has at most 14 digits, so the number is exact enough.
    return new Map(available.map(({ id, name, price }) => [id, { name, price: Math.round(Number(price)) }]));
  }

  /** Creates a product with its images, or neither. */
  async create({ images, ...fields }: ImageForm<CreateProductDto>): Promise<ProductWithUrls> {
    try {
      return await this.images.withStaged(images, (staged) =>
        this.#changeCatalog(async (tx) => {
          const { id } = await tx.save(Product, fields);
          await this.images.attach(tx, id, staged);
          return this.#withUrls(await this.products.findOrFail(id, tx));
        }),
      );
    } catch (error) {
      throw isDatabaseUnavailable(error) ? error : failures.productNotCreated(error);
    }
  }

  /** Replaces fields, removes images and adds new images after the remaining ones; all or nothing. */
  async update(
    id: number,
    { images, 'images.removed': removedUrls, ...fields }: ImageForm<UpdateProductDto>,
    ifMatch?: string,
  ): Promise<ProductWithUrls> {
    const planChange = (product: Product) => {
      assertIfMatch(ifMatch, toProductEtag(this.#withUrls(product)));
      const isRemoved = (image: Image) => removedUrls.includes(this.images.urlOf(image));
      const remaining = product.images.filter((image) => !isRemoved(image));
      if (remaining.length + images.length > MAX_IMAGES) throw failures.tooManyImages();
      return { removed: product.images.filter(isRemoved), remaining };
    };
    // Check before the upload, to reject early, and again under the lock.
    planChange(await this.products.findOrFail(id));

    return this.images.withStaged(images, (staged) =>
      this.#changeCatalog(async (tx) => {
        const { removed, remaining } = planChange(await this.products.lockOrFail(tx, id));
        await tx.update(Product, { id }, fields);
        await this.images.condemn(tx, { id: In(removed.map((image) => image.id)) });
        await this.images.attach(tx, id, staged, remaining);
        return this.#withUrls(await this.products.findOrFail(id, tx));
      }),
    );
  }

  /** Waits until concurrent orders of the product have committed. */
  async changeAvailability(id: number, { available, until }: AvailabilityDto): Promise<ProductWithUrls> {
    if (until && available) throw failures.validation({ until: UNTIL_NOT_ALLOWED });
    const availableAgainAt = until ? await this.#startOfFutureDate(until) : null;
    const change = { isSetAvailable: available, unavailableUntil: until ?? null, availableAgainAt };
    return this.#changeCatalog(async (tx) => {
      await this.products.lockOrFail(tx, id);
      await tx.update(Product, { id }, change);
      return this.#withUrls(await this.products.findOrFail(id, tx));
    });
  }

  /** Deletes a product and condemns its images, which a job deletes from the host. */
  async delete(id: number): Promise<void> {
    await this.#changeCatalog(async (tx) => {
      await this.products.lockOrFail(tx, id);
      await this.images.condemn(tx, { productId: id });
      await tx.delete(Product, { id });
    });
  }

  /** Also clears the cached pages after an error: the commit may have succeeded although its response was lost. */
  #changeCatalog<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work).finally(() => {
      this.pages.clear();
    });
  }

  async #startOfFutureDate(until: string): Promise<Date> {
    const { time_zone: zone } = await this.shop.get();
    if (until <= toLocalDate(new Date(), zone)) throw failures.validation({ until: INVALID_UNTIL });
    return startOfDay(until, zone);
  }

  #withUrls({ images, ...fields }: Product): ProductWithUrls {
    return { ...fields, images: images.map((image) => this.images.urlOf(image)) };
  }
}
