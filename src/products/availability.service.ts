import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { localAt, startOfDay } from '../common/calendar.js';
import { failures } from '../common/errors.js';
import { ImagesService } from '../images/images.service.js';
import { ShopService } from '../shop/shop.service.js';
import type { AdminProduct, AdminProductsQuery, AvailabilityDto } from './availability.dto.js';
import { UNTIL, UNTIL_AVAILABLE } from './availability.dto.js';
import { ProductPages } from './product-pages.js';
import type { Product } from './product.entity.js';
import { ProductsRepository } from './products.repository.js';

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
  async page(query: AdminProductsQuery): Promise<AdminProduct[]> {
    const page = await this.products.pageForAdmin(query);
    if (page.length === 0) throw failures.notFound();
    return page.map((product) => this.#toAdminProduct(product));
  }

  /**
   * Makes a product available or unavailable. Waits until concurrent orders of the product have committed.
   * @throws Failure 404 for an unknown product; 400 for an invalid `until`
   */
  async change(id: number, { available, until }: AvailabilityDto): Promise<AdminProduct> {
    const unavailableUntil = until ?? null;
    const availableAgainAt =
      unavailableUntil === null ? null : await this.#startOf(unavailableUntil, available);
    const change = this.dataSource.transaction(async (tx) => {
      if (!(await this.products.lock(tx, id))) throw failures.notFound();
      await this.products.update(tx, id, { available, unavailableUntil, availableAgainAt });
    });
    await this.pages.clearAfter(change);
    const product = await this.products.findById(id);
    if (product === null) throw failures.notFound();
    return this.#toAdminProduct(product);
  }

  /** Counts the products that customers cannot see or order now. */
  countUnavailable(): Promise<number> {
    return this.products.countUnavailable();
  }

  /** Returns the start of the date from which a product is available again. */
  async #startOf(until: string, available: boolean): Promise<Date> {
    if (available) throw failures.validation({ until: UNTIL_AVAILABLE });
    const zone = await this.shop.timeZone();
    if (until <= localAt(new Date(), zone).date) throw failures.validation({ until: UNTIL });
    return startOfDay(until, zone);
  }

  #toAdminProduct({ isAvailable, images, ...fields }: Product): AdminProduct {
    return { ...fields, isAvailable, images: this.images.urlsOf(images) };
  }
}
