import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { startOfDay, toLocalDate } from '../common/calendar.js';
import type { FieldMessages } from '../common/errors/failures.js';
import {
  generatePickupWindows,
  hasSlotLimit,
  hasNoPickup,
  isClosedOn,
  isPickupPossible,
  type PickupCount,
} from '../shop/pickup-windows.js';
import type { PaidOrdersView, PickupWindowView } from '../shop/shop.dto.js';
import type { Shop } from '../shop/shop.entity.js';
import { PICKUP_IMPOSSIBLE, SHOP_CLOSED } from './order-requests.dto.js';
import { IS_OPEN, IS_PAID } from './order-status.js';
import { Order } from './order.entity.js';

/** Key of the advisory lock that serializes orders with a pickup time while the shop limits the orders of a slot. */
const PICKUP_LOCK = 1_766_431;

/** Conditions in SQL for an order `o`. */
const IS_UNCOLLECTED = `${IS_PAID} AND o.fulfilment NOT IN ('collected', 'refused')`;
const OCCUPIES_SLOT = `o.fulfilment <> 'refused' AND (${IS_PAID} OR ${IS_OPEN})`;

/** Decides when an order can be collected, and counts stored orders by pickup time. */
@Injectable()
export class PickupsService {
  constructor(private readonly dataSource: DataSource) {}

  async listWindows(shop: Readonly<Shop>): Promise<PickupWindowView[]> {
    const now = new Date();
    const counts = await this.#countOccupied(this.dataSource.manager, shop, now);
    return [...generatePickupWindows(shop, now, counts)];
  }

  /**
   * Checks the pickup time of a new order. If the shop limits the orders of a slot, other orders with a pickup time wait until
   * `tx` ends, so that two of them cannot take the last place.
   * @returns the field message if the order is not possible, otherwise an empty object
   */
  async checkPickup(tx: EntityManager, shop: Readonly<Shop>, pickupAt: Date | null): Promise<FieldMessages> {
    // SQL text, because TypeORM knows no advisory locks.
    if (pickupAt !== null && hasSlotLimit(shop))
      await tx.query('SELECT pg_advisory_xact_lock($1)', [PICKUP_LOCK]);
    const now = new Date();
    const counts = await this.#countOccupied(tx, shop, now);
    // The shop is open at this time, but the slot may be full.
    if (pickupAt !== null && isPickupPossible(shop, pickupAt, now))
      return isPickupPossible(shop, pickupAt, now, counts) ? {} : { pickup_at: PICKUP_IMPOSSIBLE };
    if (hasNoPickup(shop, now, counts)) return { pickup_at: SHOP_CLOSED };
    return pickupAt === null ? {} : { pickup_at: PICKUP_IMPOSSIBLE };
  }

  /** Counts the paid orders that are still to be collected on dates on which the shop is closed, from today on. */
  async countPaidOnClosedDates(shop: Readonly<Shop>): Promise<PaidOrdersView[]> {
    const counts = await this.#count(this.dataSource.manager, shop, new Date(), IS_UNCOLLECTED);
    const byDate = new Map<string, number>();
    for (const { pickupAt, orders } of counts) {
      const date = toLocalDate(pickupAt, shop.time_zone);
      if (isClosedOn(shop, date)) byDate.set(date, (byDate.get(date) ?? 0) + orders);
    }
    return [...byDate].map(([date, orders]) => ({ date, orders }));
  }

  /** Counts the orders that occupy a place in a slot, by pickup time. */
  async #countOccupied(manager: EntityManager, shop: Readonly<Shop>, now: Date): Promise<PickupCount[]> {
    return hasSlotLimit(shop) ? this.#count(manager, shop, now, OCCUPIES_SLOT) : [];
  }

  /** Counts the orders that meet a condition and have a pickup time from today on, by pickup time. */
  #count(manager: EntityManager, { time_zone }: Readonly<Shop>, now: Date, condition: string) {
    const minute = "date_trunc('minute', o.pickupAt)";
    const today = startOfDay(toLocalDate(now, time_zone), time_zone);
    return manager
      .createQueryBuilder(Order, 'o')
      .select(minute, 'pickupAt')
      .addSelect('count(*)::int', 'orders')
      .where('o.pickupAt >= :today', { today })
      .andWhere(condition)
      .groupBy(minute)
      .orderBy(minute)
      .getRawMany<PickupCount>();
  }
}
