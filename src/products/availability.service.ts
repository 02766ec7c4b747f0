import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { localAt, startOfDay } from '../common/calendar.js';
import { failures } from '../common/errors.js';
import { ImagesService } from '../images/images.service.js';
import { ShopService } from '../shop/shop.service.js';
import {
  type AdminProduct,
  type AdminProductsQuery,
  type AvailabilityDto,
  UNTIL,
  UNTIL_AVAILABLE,
} from './availability.dto.js';
import { ProductPages } from './product-pages.js';
import type { Product } from './product.entity.js';
import { type Availability, ProductsRepository } from './products.repository.js';

/** Lists products for administrators, and makes products available or unavailable to customers. */
@Injectable()
export class AvailabilityService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly products: ProductsRepository,
    private readonly pages: ProductPages,
    private readonly images: ImagesService,
    private readonly shop: ShopService,
  ) {}

  /** Returns a page of products, including unavailable products. @throws Failure 404 if the page is empty */
  async page(query: Readonly<AdminProductsQuery>): Promise<AdminProduct[]> {
    const page = await this.products.pageForAdmin(query);
    if (page.length === 0) throw failures.notFound();
    return page.map((product) => this.#toAdminProduct(product));
  }

  /**
   * Makes a product available or unavailable. Waits until concurrent orders of the product have committed.
   * @throws Failure 404 for an unknown product; 400 for an invalid `until`
   */
  async change(id: number, { available, until }: Readonly<AvailabilityDto>): Promise<AdminProduct> {
    const availability = { available, ...(await this.#parseUntil(available, until)) };
    try {
      await this.dataSource.transaction(async (tx) => {
        if (!(await this.products.lock(tx, id))) throw failures.notFound();
        await this.products.update(tx, id, availability);
      });
    } finally {
      // Clear the cache even after an error: the commit may have succeeded although its response was lost.
      this.pages.clear();
    }
    const product = await this.products.findById(id);
    if (product === null) throw failures.notFound();
    return this.#toAdminProduct(product);
  }

  /** Number of products that customers cannot see or order now. */
  countUnavailable(): Promise<number> {
    return this.products.countUnavailable();
  }

  async #parseUntil(available: boolean, until?: string | null): Promise<Omit<Availability, 'available'>> {
    if (until === undefined || until === null) return { unavailableUntil: null, availableAgainAt: null };
    if (available) throw failures.validation({ until: UNTIL_AVAILABLE });
    const zone = await this.shop.timeZone();
    if (until <= localAt(new Date(), zone).date) throw failures.validation({ until: UNTIL });
    return { unavailableUntil: until, availableAgainAt: startOfDay(until, zone) };
  }

  #toAdminProduct(product: Product): AdminProduct {
    const { isAvailable, images, ...fields } = product;
    return { ...fields, isAvailable, images: images.map((image) => this.images.urlOf(image)) };
  }
}
