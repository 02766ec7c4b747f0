import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IS_PAID } from '../orders/order-status.js';
import type { SalesLine } from './csv.js';
import type { SalesView } from './reports.dto.js';

/** Dates of a report, and their boundaries: the start of each date, then the end of the last date. */
export interface ReportDays {
  readonly dates: readonly string[];
  readonly boundaries: readonly Date[];
}

/** `paid_at` is text, because a `Date` has no microseconds, and the next batch would repeat orders. */
type StoredLine = SalesLine & { readonly paid_at: string };

/** Number of orders that `readLines` reads in one statement. */
const ORDERS_PER_BATCH = 500;

/**
 * The service computes the boundaries of the days, because PostgreSQL may have another version of the time zone database.
 */
const BOUNDARIES = '$1::timestamptz[]';
const DATES = '$2::text[]';
/** Position of an order's date in the dates of the report, from 1. */
const POSITION = `width_bucket(o.first_paid_at, ${BOUNDARIES})`;
const IS_PAID_IN_RANGE = `o.first_paid_at >= (${BOUNDARIES})[1]
  AND o.first_paid_at < (${BOUNDARIES})[cardinality(${BOUNDARIES})] AND ${IS_PAID}`;

/**
 * Reads the sales of paid orders. An order counts on the day of its first payment. SQL, because TypeORM has no expressions such
 * as `width_bucket`, and would load every order.
 */
@Injectable()
export class SalesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Sums up the sales of a range. A product has the name under which it was sold last. One statement computes all sums, so
   * that they agree even if an order is paid meanwhile. Partial refunds do not reduce the revenue of products.
   */
  async sum({ dates, boundaries }: ReportDays): Promise<SalesView> {
    const [sums] = await this.dataSource.query<[SalesView]>(
      `WITH sold AS MATERIALIZED (
         SELECT o.order_id, o.first_paid_at, o.gross_amount - o.refunded_amount AS revenue, ${POSITION} AS position
         FROM orders AS o WHERE ${IS_PAID_IN_RANGE}
       ), total AS (
         SELECT count(*) AS orders, coalesce(sum(revenue), 0) AS revenue FROM sold
       ), days AS (
         SELECT date, count(order_id) AS orders, coalesce(sum(revenue), 0) AS revenue
         FROM unnest(${DATES}) WITH ORDINALITY AS day (date, position) LEFT JOIN sold USING (position) GROUP BY date
       ), by_name AS ( -- Groups first, so that only a few rows are sorted for each product.
         SELECT product_id, name, max(first_paid_at) AS last_sold_at, sum(quantity) AS quantity,
           sum(price * quantity) AS revenue
         FROM sold JOIN order_items USING (order_id) GROUP BY product_id, name
       ), products AS (
         SELECT product_id, (array_agg(name ORDER BY last_sold_at DESC, name))[1] AS name,
           sum(quantity) AS quantity, sum(revenue) AS revenue
         FROM by_name GROUP BY product_id
       )
       SELECT (SELECT to_json(total) FROM total) AS total,
         (SELECT json_agg(days ORDER BY date) FROM days) AS days,
         (SELECT coalesce(json_agg(products ORDER BY revenue DESC, product_id), '[]') FROM products) AS products`,
      [boundaries, dates],
    );
    return sums;
  }

  /**
   * Reads the items of paid orders in batches, sorted by time of payment. Each batch is a separate statement, so no database
   * connection is occupied while the caller handles a batch.
   */
  async *readLines({ dates, boundaries }: ReportDays): AsyncGenerator<SalesLine[]> {
    let last: StoredLine | undefined;
    for (;;) {
      const batch = await this.dataSource.query<StoredLine[]>(
        `SELECT (${DATES})[${POSITION}] AS date, o.first_paid_at::text AS paid_at, o.order_id,
           i.product_id, i.name, i.quantity, i.price, i.price * i.quantity AS sum, o.status,
           CASE i.position WHEN 0 THEN o.refunded_amount ELSE 0 END AS refunded
         FROM (
           SELECT * FROM orders AS o
           WHERE ${IS_PAID_IN_RANGE} AND ($3::timestamptz IS NULL OR (o.first_paid_at, o.order_id) > ($3, $4::uuid))
           ORDER BY o.first_paid_at, o.order_id LIMIT ${ORDERS_PER_BATCH}
         ) AS o JOIN order_items AS i ON i.order_id = o.order_id
         ORDER BY o.first_paid_at, o.order_id, i.position`,
        [boundaries, dates, last?.paid_at ?? null, last?.order_id ?? null],
      );
      if (batch.length === 0) return;
      last = batch.at(-1);
      yield batch;
    }
  }
}
