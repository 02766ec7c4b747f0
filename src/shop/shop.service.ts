import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { assertIfMatch, toEtag } from '../common/http/if-match.js';
import { normalizeSettings, type ShopDto } from './shop.dto.js';
import { DEFAULT_SHOP, Shop, SHOP_ID } from './shop.entity.js';

@Injectable()
export class ShopService {
  constructor(@InjectRepository(Shop) private readonly shops: Repository<Shop>) {}

  async get(): Promise<Readonly<Shop>> {
    return (await this.shops.findOneBy({ id: SHOP_ID })) ?? DEFAULT_SHOP;
  }

  async replace(settings: Readonly<ShopDto>, ifMatch?: string): Promise<Readonly<Shop>> {
    return this.shops.manager.transaction(async (tx) => {
      // The row must exist to be locked. If the check fails, the rollback removes a new row.
      await this.insertIfMissing({}, tx);
      const stored = await tx.findOneOrFail(Shop, {
        where: { id: SHOP_ID },
        lock: { mode: 'pessimistic_write' },
      });
      assertIfMatch(ifMatch, toShopEtag(stored));
      const shop = changeSettings(stored, settings);
      await tx.update(Shop, { id: SHOP_ID }, shop);
      return shop;
    });
  }

  /** Inserts the default settings with these changes. Does nothing if settings are stored already. */
  async insertIfMissing(changes: Partial<ShopDto>, tx: EntityManager = this.shops.manager): Promise<void> {
    const shop = changeSettings(DEFAULT_SHOP, changes);
    await tx.createQueryBuilder().insert().into(Shop).values(shop).orIgnore().execute();
  }
}

function changeSettings(current: Readonly<Shop>, changes: Partial<ShopDto>): Shop {
  return { id: SHOP_ID, ...normalizeSettings({ ...current, ...changes }) };
}

export function toShopEtag(shop: Readonly<Shop>): string {
  return toEtag(normalizeSettings(shop));
}
