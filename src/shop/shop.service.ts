import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { assertIfMatch, toEtag } from '../common/http/if-match.js';
import { normalizeSettings, type ShopDto } from './shop.dto.js';
import { Shop, SHOP_ID } from './shop.entity.js';

/** Settings that apply until settings are stored for the first time. */
export const DEFAULT_SHOP: Readonly<Shop> = new Shop();

@Injectable()
export class ShopService {
  constructor(@InjectRepository(Shop) private readonly shops: Repository<Shop>) {}

  async get(): Promise<Readonly<Shop>> {
    return (await this.shops.findOneBy({ id: SHOP_ID })) ?? DEFAULT_SHOP;
  }

  async replace(settings: Readonly<ShopDto>, ifMatch?: string): Promise<Readonly<Shop>> {
    return this.shops.manager.transaction(async (tx) => {
      // Lock the table, because the row may not exist yet. SQL, because TypeORM locks only rows.
      await tx.query('LOCK TABLE shop IN SHARE ROW EXCLUSIVE MODE');
      const current = (await tx.findOneBy(Shop, { id: SHOP_ID })) ?? DEFAULT_SHOP;
      assertIfMatch(ifMatch, toShopEtag(current));
      const shop = { id: SHOP_ID, ...normalizeSettings({ ...current, ...settings }) };
      await tx.upsert(Shop, shop, ['id']);
      return shop;
    });
  }
}

export function toShopEtag(shop: Readonly<Shop>): string {
  return toEtag(normalizeSettings(shop));
}
