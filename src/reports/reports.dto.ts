import { ApiProperty } from '@nestjs/swagger';
import { IsCalendarDate } from '../common/calendar-date.decorator.js';
import { AdminOrderView } from '../orders/order.dto.js';
import { isOpenStep } from '../orders/fulfilment.js';
import type { Order } from '../orders/orders.service.js';

/** Path of GET /api/admin/days/{date}. */
export class DayParams {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  @IsCalendarDate()
  date!: string;
}

/** Query of the sales; both dates belong to the range. */
export class SalesQuery {
  @ApiProperty({ format: 'date', example: '2026-11-01' })
  @IsCalendarDate()
  from!: string;

  @ApiProperty({ format: 'date', example: '2026-11-30', description: 'At most 366 days with `from`' })
  @IsCalendarDate()
  to!: string;
}

/** A product of a day: how many to make. */
export class DayProductView {
  @ApiProperty({ example: 7 })
  readonly product_id!: number;

  @ApiProperty({ description: 'As last sold', example: 'Kue lapis legit' })
  readonly name!: string;

  @ApiProperty({ description: 'Pieces in all orders of the day', example: 12 })
  quantity!: number;

  @ApiProperty({ description: 'Pieces in orders that are new or preparing', example: 4 })
  open!: number;
}

/** Paid orders of a day, and what to make for them. */
export class DayView {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date: string;

  @ApiProperty({ type: [DayProductView], description: 'By name' })
  readonly products: DayProductView[];

  @ApiProperty({ type: [AdminOrderView], description: 'By pickup time; orders without one come last' })
  readonly orders: AdminOrderView[];

  constructor(date: string, orders: readonly Order[]) {
    this.date = date;
    this.orders = orders.map((order) => new AdminOrderView(order));
    this.products = sumProducts(orders);
  }
}

/** Orders and revenue. */
export class SalesTotalView {
  @ApiProperty({ example: 41 })
  readonly orders!: number;

  @ApiProperty({ description: 'Whole rupiah, without what was refunded', example: 7585000 })
  readonly revenue!: number;
}

/** Orders and revenue of a day. */
export class SalesDayView extends SalesTotalView {
  @ApiProperty({ format: 'date', example: '2026-11-24' })
  readonly date!: string;
}

/** Sales of a product. */
export class SalesProductView {
  @ApiProperty({ example: 7 })
  readonly product_id!: number;

  @ApiProperty({ description: 'As last sold', example: 'Kue lapis legit' })
  readonly name!: string;

  @ApiProperty({ example: 41 })
  readonly quantity!: number;

  @ApiProperty({ description: 'Whole rupiah: the sum of price × quantity', example: 7585000 })
  readonly revenue!: number;
}

/** Sales of a range of days. */
export class SalesView {
  @ApiProperty()
  readonly total!: SalesTotalView;

  @ApiProperty({ type: [SalesDayView], description: 'Every day of the range' })
  readonly days!: readonly SalesDayView[];

  @ApiProperty({ type: [SalesProductView], description: 'By revenue, the largest first' })
  readonly products!: readonly SalesProductView[];
}

function sumProducts(orders: readonly Order[]): DayProductView[] {
  const sums = new Map<number, DayProductView>();
  // The latest order names the product: it may have been renamed.
  for (const { items, fulfilment } of orders.toSorted(
    (a, b) => b.createdAt.getTime() - a.createdAt.getTime(),
  )) {
    for (const { productId: product_id, name, quantity } of items) {
      const sum = sums.get(product_id) ?? { product_id, name, quantity: 0, open: 0 };
      sum.quantity += quantity;
      if (isOpenStep(fulfilment)) sum.open += quantity;
      sums.set(product_id, sum);
    }
  }
  return [...sums.values()].sort((a, b) => a.name.localeCompare(b.name) || a.product_id - b.product_id);
}
