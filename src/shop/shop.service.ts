import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { parseInstant } from '../common/calendar.js';
import { assertIfMatch, toEtag } from '../common/http/if-match.js';
import { normalizeHours } from './opening-hours.decorator.js';
import { DEFAULT_SHOP, Shop, SHOP_ID } from './shop.entity.js';
import { normalizeRanges, type ShopDto } from './shop.dto.js';

export type { Shop };

@Injectable()
export class ShopService {
  constructor(@InjectRepository(Shop) private readonly shops: Repository<Shop>) {}

  async get(): Promise<Readonly<Shop>> {
    return (await this.shops.findOneBy({ id: SHOP_ID })) ?? DEFAULT_SHOP;
  }

  async timeZone(): Promise<string> {
    return (await this.get()).time_zone;
  }

  async replace(settings: Readonly<ShopDto>, ifMatch?: string): Promise<Readonly<Shop>> {
    return this.shops.manager.transaction(async (tx) => {
      // The row must exist to be locked. If the check fails, the rollback removes a new row.
      await insertIfMissing(tx, DEFAULT_SHOP);
      const stored = await tx.findOneOrFail(Shop, {
        where: { id: SHOP_ID },
        lock: { mode: 'pessimistic_write' },
      });
      assertIfMatch(ifMatch, shopEtag(stored));
      const shop = toShop(settings, stored);
      await tx.update(Shop, { id: SHOP_ID }, shop);
      return shop;
    });
  }

  async insertIfMissing(settings: Readonly<ShopDto>): Promise<void> {
    await insertIfMissing(this.shops.manager, toShop(settings, DEFAULT_SHOP));
  }
}

async function insertIfMissing(manager: EntityManager, shop: Readonly<Shop>): Promise<void> {
  await manager.createQueryBuilder().insert().into(Shop).values(shop).orIgnore().execute();
}

/** Settings that are absent stay as in `current`. */
function toShop({ paused_until, ...settings }: Readonly<ShopDto>, current: Readonly<Shop>): Shop {
  const shop = { ...current, ...settings };
  return {
    ...shop,
    hours: normalizeHours(shop.hours),
    closed: [...new Set(shop.closed)].sort(),
    closed_ranges: normalizeRanges(shop.closed_ranges),
    paused_until: paused_until === undefined ? current.paused_until : parseInstant(paused_until),
  };
}

/**
 * Everyone may see every column but `id`. `normalizeHours` and `normalizeRanges` restore the order of keys, which `jsonb` does not
 * keep: equal settings must have the same ETag.
 */
export function toSettingsView({ id: _id, ...settings }: Readonly<Shop>) {
  return {
    ...settings,
    hours: normalizeHours(settings.hours),
    closed_ranges: normalizeRanges(settings.closed_ranges),
    paused_until: settings.paused_until?.toISOString() ?? null,
  };
}

export function shopEtag(shop: Readonly<Shop>): string {
  return toEtag(toSettingsView(shop));
}
