import { Injectable } from '@nestjs/common';
import { addDays, dayRange, daysBetween, startOfDay, toLocalDate } from '../common/calendar.js';
import { failures } from '../common/errors/failures.js';
import { AdminOrderView } from '../orders/order.dto.js';
import type { Order } from '../orders/order.entity.js';
import { OrdersService } from '../orders/orders.service.js';
import { ShopService } from '../shop/shop.service.js';
import { getCsvFormat } from './csv.js';
import type { DayProductView, DayView, SalesCsvQuery, SalesQuery, SalesView } from './reports.dto.js';
import { type ReportDays, SalesRepository } from './sales.repository.js';

const MAX_DAYS = 366;
/** Order of product names. Without a locale, it would depend on the machine. */
const NAME_ORDER = new Intl.Collator('id');
/** Days before today whose orders can be overdue. */
const OVERDUE_DAYS = 30;

@Injectable()
export class ReportsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly sales: SalesRepository,
    private readonly shop: ShopService,
  ) {}

  async buildDaySheet(date: string): Promise<DayView> {
    const { time_zone: zone } = await this.shop.get();
    const day = dayRange(date, zone);
    const orders = await this.orders.findOfDays(day);
    const isToday = date === toLocalDate(new Date(), zone);
    const overdue = isToday ? await this.#findOverdue(date, zone) : [];
    return { date, products: sumProducts(orders), orders: toViews(orders), overdue: toViews(overdue) };
  }

  /** Finds the overdue orders of earlier days, oldest first. */
  async #findOverdue(today: string, zone: string): Promise<Order[]> {
    const start = startOfDay(addDays(today, -OVERDUE_DAYS), zone);
    const pastDays = { start, end: startOfDay(today, zone) };
    const overdue = await this.orders.findOfDays(pastDays, { isUncollected: true });
    return overdue.sort((a, b) => dueTimeOf(a) - dueTimeOf(b));
  }

  async sumSales(query: SalesQuery): Promise<SalesView> {
    return this.sales.sum(await this.#listDays(query));
  }

  /** Reads the first batch of lines before it returns, so that the request fails if the database is unavailable. */
  async streamCsv(query: SalesCsvQuery): Promise<AsyncIterable<string>> {
    const { header, formatLine } = getCsvFormat(query.format);
    const batches = this.sales.readLines(await this.#listDays(query));
    const first = await batches.next();
    return (async function* () {
      yield header;
      for (let next = first; next.done !== true; next = await batches.next())
        yield next.value.map(formatLine).join('');
    })();
  }

  async #listDays({ from, to }: SalesQuery): Promise<ReportDays> {
    const length = daysBetween(from, to) + 1;
    if (length < 1) throw failures.validation({ to: 'to should not be before from' });
    if (length > MAX_DAYS)
      throw failures.validation({ to: `from and to can include ${MAX_DAYS} days at max` });
    const dates = Array.from({ length }, (_, index) => addDays(from, index));
    const { time_zone: zone } = await this.shop.get();
    return { dates, boundaries: [...dates, addDays(to, 1)].map((date) => startOfDay(date, zone)) };
  }
}

function toViews(orders: readonly Order[]): AdminOrderView[] {
  return orders.map((order) => new AdminOrderView(order));
}

/** Returns the pickup time or, for an order without a pickup, the time of payment. */
function dueTimeOf({ pickupAt, firstPaidAt }: Order): number {
  return (pickupAt ?? firstPaidAt)?.getTime() ?? 0;
}

/** Sums up the items of paid orders by product. A product has the name under which it was sold last, as in the sales. */
function sumProducts(orders: readonly Order[]): DayProductView[] {
  const sums = new Map<number, DayProductView>();
  const newestFirst = orders.toSorted((a, b) => Number(b.firstPaidAt) - Number(a.firstPaidAt));
  for (const { items, fulfilment } of newestFirst) {
    for (const { productId: product_id, name, quantity } of items) {
      const sum = sums.get(product_id) ?? { product_id, name, quantity: 0, open: 0 };
      sum.quantity += quantity;
      if (fulfilment === 'new' || fulfilment === 'preparing') sum.open += quantity;
      sums.set(product_id, sum);
    }
  }
  return [...sums.values()].sort((a, b) => NAME_ORDER.compare(a.name, b.name) || a.product_id - b.product_id);
}
