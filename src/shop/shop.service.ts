import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { parseInstant } from '../common/calendar.js';
import { assertIfMatch, toEtag } from '../common/http/if-match.js';
import { normalizeHours } from './opening-hours.decorator.js';
import { normalizeRanges } from './optional-shop-settings.dto.js';
import { DEFAULT_SHOP, Shop, SHOP_ID } from './shop.entity.js';
import type { ShopDto } from './shop.dto.js';

export type { Shop };

@Injectable()
export class ShopService {
  constructor(@InjectRepository(Shop) private readonly shops: Repository<Shop>) {}

  async get(): Promise<Readonly<Shop>> {
    return (await this.shops.findOneBy({ id: SHOP_ID })) ?? DEFAULT_SHOP;
  }

  async timeZone(): Promise<string> {
    return (await this.get()).timeZone;
  }

  /** @throws Failure 412 if the header `ifMatch` names other settings than the stored ones */
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

/** Details that are absent in the settings stay as in `current`. */
function toShop(settings: Readonly<ShopDto>, current: Readonly<Shop>): Shop {
  const {
    name = current.name,
    address = current.address,
    phone = current.phone,
    whatsapp = current.whatsapp,
    website = current.website,
    language = current.language,
    cut_off: cutOff = current.cutOff,
    slot_minutes: slotMinutes = current.slotMinutes,
    orders_per_slot: ordersPerSlot = current.ordersPerSlot,
    paused_until: pausedUntil,
  } = settings;
  const details = { name, address, phone, whatsapp, website, language, cutOff, slotMinutes, ordersPerSlot };
  return {
    id: SHOP_ID,
    ...details,
    timeZone: settings.time_zone,
    hours: normalizeHours(settings.hours),
    closed: [...new Set(settings.closed)].sort(),
    leadMinutes: settings.lead_minutes,
    daysAhead: settings.days_ahead,
    closedRanges: normalizeRanges(settings.closed_ranges ?? current.closedRanges),
    pausedUntil: pausedUntil === undefined ? current.pausedUntil : parseInstant(pausedUntil),
  };
}

/** Builds the settings in a fixed order of keys, which `jsonb` does not keep, so that equal settings have the same ETag. */
export function toSettingsView(shop: Readonly<Shop>) {
  const { name, address, phone, whatsapp, website, language, closed } = shop;
  return {
    name,
    address,
    phone,
    whatsapp,
    website,
    language,
    time_zone: shop.timeZone,
    hours: normalizeHours(shop.hours),
    closed,
    closed_ranges: normalizeRanges(shop.closedRanges),
    lead_minutes: shop.leadMinutes,
    days_ahead: shop.daysAhead,
    cut_off: shop.cutOff,
    slot_minutes: shop.slotMinutes,
    orders_per_slot: shop.ordersPerSlot,
    paused_until: shop.pausedUntil?.toISOString() ?? null,
  };
}

export function shopEtag(shop: Readonly<Shop>): string {
  return toEtag(toSettingsView(shop));
}
