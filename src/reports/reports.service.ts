import { Injectable } from '@nestjs/common';
import { addDays, daysBetween, startOfDay } from '../common/calendar.js';
import { failures } from '../common/errors.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { ShopService } from '../shop/shop.service.js';
import { CSV_HEADER, toCsvLine } from './csv.js';
import type { SalesQuery, SalesView } from './reports.dto.js';
import { SalesRepository } from './sales.repository.js';

const MAX_DAYS = 366;

/** Reports for the bakery's day: what to make, and what was sold. */
@Injectable()
export class ReportsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly sales: SalesRepository,
    private readonly shop: ShopService,
  ) {}

  /** Paid orders of a date that are not refused, by pickup time. */
  async ordersOfDay(date: string): Promise<Order[]> {
    return this.orders.findOfDay(await this.shop.dayRange(date));
  }

  /** @throws Failure 400 for a range that is empty or longer than 366 days */
  async salesBetween({ from, to }: SalesQuery): Promise<SalesView> {
    const dates = listDates(from, to);
    const { days: sold, products } = await this.sales.sum(await this.#boundariesOf(dates));
    const salesByDay = new Map(sold.map(({ day, ...sales }) => [day, sales]));
    const days = dates.map((date, index) => ({
      date,
      ...(salesByDay.get(index + 1) ?? { orders: 0, revenue: 0 }),
    }));
    const total = {
      orders: days.reduce((sum, { orders }) => sum + orders, 0),
      revenue: days.reduce((sum, { revenue }) => sum + revenue, 0),
    };
    return { total, days, products };
  }

  /**
   * Returns the sold items as text of a CSV file, piece by piece. The first piece is read before this method returns, so
   * that a database that is unavailable fails the request.
   * @throws Failure 400 for a range that is empty or longer than 366 days
   */
  async salesCsv({ from, to }: SalesQuery): Promise<AsyncIterable<string>> {
    const dates = listDates(from, to);
    const batches = this.sales.items(await this.#boundariesOf(dates));
    const first = await batches.next();
    return (async function* () {
      yield CSV_HEADER;
      for (let next = first; next.done !== true; next = await batches.next())
        yield next.value.map((item) => toCsvLine(dates[item.day - 1] ?? '', item)).join('');
    })();
  }

  async #boundariesOf(dates: readonly string[]): Promise<Date[]> {
    const zone = await this.shop.timeZone();
    return [...dates, addDays(dates.at(-1) ?? '', 1)].map((date) => startOfDay(date, zone));
  }
}

function listDates(from: string, to: string): string[] {
  const days = daysBetween(from, to) + 1;
  if (days < 1) throw failures.validation({ to: 'to should not be before from' });
  if (days > MAX_DAYS) throw failures.validation({ to: `from and to can include ${MAX_DAYS} days at max` });
  return Array.from({ length: days }, (_, index) => addDays(from, index));
}
