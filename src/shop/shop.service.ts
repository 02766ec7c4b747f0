import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { dayRange, type TimeRange } from '../common/calendar.js';
import { normalizeHours } from './opening-hours.decorator.js';
import { isPickupPossible } from './pickup-windows.js';
import { DEFAULT_SHOP, Shop, SHOP_ID } from './shop.entity.js';
import type { ShopDto } from './shop.dto.js';

@Injectable()
export class ShopService {
  constructor(@InjectRepository(Shop) private readonly shops: Repository<Shop>) {}

  async get(): Promise<Readonly<Shop>> {
    return (await this.shops.findOneBy({ id: SHOP_ID })) ?? DEFAULT_SHOP;
  }

  async timeZone(): Promise<string> {
    return (await this.get()).timeZone;
  }

  async dayRange(date: string): Promise<TimeRange> {
    return dayRange(date, await this.timeZone());
  }

  async replace(settings: Readonly<ShopDto>): Promise<Readonly<Shop>> {
    const shop = toShop(settings);
    await this.shops.upsert(shop, ['id']);
    return shop;
  }

  async insertIfMissing(settings: Readonly<ShopDto>): Promise<void> {
    await this.shops.createQueryBuilder().insert().values(toShop(settings)).orIgnore().execute();
  }

  async isPickupPossible(pickupAt: Date): Promise<boolean> {
    return isPickupPossible(await this.get(), pickupAt, new Date());
  }
}

function toShop(settings: Readonly<ShopDto>): Shop {
  return {
    id: SHOP_ID,
    timeZone: settings.time_zone,
    hours: normalizeHours(settings.hours),
    closed: [...new Set(settings.closed)].sort(),
    leadMinutes: settings.lead_minutes,
    daysAhead: settings.days_ahead,
  };
}
