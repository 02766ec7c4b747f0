import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import type { OrderStatus } from './order-status.js';
import { Order } from './order.entity.js';
import type { AttemptClaim } from './payment-attempts.repository.js';

/** A line of an order as its views show it. */
export interface OrderItemRow {
  readonly product_id: number;
  readonly name: string;
  /** Whole rupiah. */
  readonly price: number;
  readonly quantity: number;
}

/** An order as its views show it. */
export interface OrderRow {
  readonly order_id: string;
  readonly user_id: number;
  readonly status: OrderStatus;
  /** Whole rupiah, as PostgreSQL writes a bigint. */
  readonly gross_amount: string;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly completed_at: Date | null;
  readonly created_at: Date;
  readonly items: OrderItemRow[];
  /** Of the payment page, while the order is pending and the page is alive. */
  readonly token: string | null;
  readonly redirect_url: string | null;
}

/** Orders of one page (decisions.md, Answers). */
const PAGE_SIZE = 50;

const SELECT_ORDERS = `
  SELECT orders.order_id, user_id, status, gross_amount, payment_type, fraud_status, completed_at, created_at,
    coalesce(
      (SELECT json_agg(json_build_object('product_id', product_id, 'name', name, 'price', price, 'quantity', quantity)
                       ORDER BY position)
       FROM order_items WHERE order_items.order_id = orders.order_id),
      '[]') AS items,
    page.token, page.redirect_url
  FROM orders
  LEFT JOIN LATERAL (
    SELECT token, redirect_url FROM payment_attempts
    WHERE payment_attempts.order_id = orders.order_id AND token IS NOT NULL AND expires_at > now()
    ORDER BY number DESC LIMIT 1
  ) AS page ON orders.status = 'pending'`;

const PAGE_ORDER = `ORDER BY created_at DESC, orders.order_id DESC LIMIT ${PAGE_SIZE}`;

/** A pending order to be inserted. */
export interface NewOrder {
  readonly orderId: string;
  readonly userId: number;
  /** Whole rupiah. */
  readonly grossAmount: string;
  readonly idempotencyKey: string | null;
  readonly requestDigest: Buffer;
  readonly items: readonly OrderItemRow[];
}

/** What the database made of it. */
export interface InsertedOrder {
  readonly createdAt: Date;
  readonly claim: AttemptClaim;
}

/** Named, so that each connection parses and plans it once. */
const BY_ID = { name: 'order', text: `${SELECT_ORDERS} WHERE orders.order_id = $1` };

const INSERT_ORDER = {
  name: 'order-insert',
  text: `
    WITH inserted AS (
      INSERT INTO orders (order_id, user_id, gross_amount, idempotency_key, request_digest)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
      RETURNING order_id, created_at
    ), lines AS (
      INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
      SELECT order_id, line.number - 1, product_id, name, price, quantity
      FROM inserted, unnest($6::integer[], $7::text[], $8::bigint[], $9::smallint[])
        WITH ORDINALITY AS line (product_id, name, price, quantity, number)
    )
    INSERT INTO payment_attempts (attempt_id, order_id, number, claimed_at)
    SELECT order_id, order_id, 1, clock_timestamp() FROM inserted
    RETURNING (SELECT created_at FROM inserted), claimed_at::text`,
};

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** One indexed read: this is what clients poll. */
  async findById(orderId: string): Promise<OrderRow | null> {
    const rows = await queryNamed<OrderRow>(this.orders.manager, BY_ID, [orderId]);
    return rows[0] ?? null;
  }

  /** A user's orders after one of theirs, newest first. */
  pageOfUser(userId: number, afterId: string | null): Promise<OrderRow[]> {
    return this.orders.query<OrderRow[]>(
      `${SELECT_ORDERS} WHERE user_id = $1
         AND ($2::uuid IS NULL OR (created_at, orders.order_id) <
           (SELECT created_at, order_id FROM orders WHERE order_id = $2 AND user_id = $1))
       ${PAGE_ORDER}`,
      [userId, afterId],
    );
  }

  /** Everybody's orders after one, newest first. */
  page(status: OrderStatus | null, afterId: string | null): Promise<OrderRow[]> {
    return this.orders.query<OrderRow[]>(
      `${SELECT_ORDERS} WHERE ($1::text IS NULL OR status = $1)
         AND ($2::uuid IS NULL OR (created_at, orders.order_id) <
           (SELECT created_at, order_id FROM orders WHERE order_id = $2))
       ${PAGE_ORDER}`,
      [status, afterId],
    );
  }

  findByIdempotencyKey(
    userId: number,
    idempotencyKey: string,
  ): Promise<Pick<Order, 'orderId' | 'requestDigest'> | null> {
    return this.orders.findOne({
      where: { userId, idempotencyKey },
      select: { orderId: true, requestDigest: true },
    });
  }

  /**
   * Inserts a pending order, its items and its first payment attempt, which is the caller's, in one statement and so
   * in one transaction.
   * @returns null when the user has an order with the same idempotency key
   */
  async insert(order: NewOrder): Promise<InsertedOrder | null> {
    const { orderId, userId, grossAmount, idempotencyKey, requestDigest, items } = order;
    const rows = await queryNamed<{ created_at: Date; claimed_at: string }>(
      this.orders.manager,
      INSERT_ORDER,
      [
        orderId,
        userId,
        grossAmount,
        idempotencyKey,
        requestDigest,
        items.map(({ product_id }) => product_id),
        items.map(({ name }) => name),
        items.map(({ price }) => price),
        items.map(({ quantity }) => quantity),
      ],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { created_at: createdAt, claimed_at: claimedAt } = row;
    return { createdAt, claim: { attemptId: orderId, claimedAt } };
  }

  /**
   * Locks an order, so that what is known of its payment is applied in one order by all processes.
   * @param id of the order or of one of its payment attempts, which is what the gateway may name
   */
  lock(tx: EntityManager, id: string): Promise<Order | null> {
    return tx
      .createQueryBuilder(Order, 'o')
      .setLock('pessimistic_write')
      .where('o.orderId = coalesce((SELECT order_id FROM payment_attempts WHERE attempt_id = :id), :id)', {
        id,
      })
      .getOne();
  }

  /**
   * Takes pending orders whose time has come; gaps double from 5 minutes to 6 hours, and one check falls on the 25th
   * hour. Orders that another process is taking are left to it.
   */
  async takeDueForCheck(tx: EntityManager, limit: number): Promise<string[]> {
    const [rows] = await tx.query<[{ order_id: string }[], number]>(
      `UPDATE orders SET checks = least(checks + 1, 100), next_check_at = least(
           now() + least(interval '5 minutes' * 2 ^ least(checks, 10), interval '6 hours'),
           greatest(created_at + interval '25 hours', now() + interval '5 minutes'))
       WHERE order_id IN (
         SELECT order_id FROM orders WHERE status = 'pending' AND next_check_at <= now()
         ORDER BY next_check_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING order_id`,
      [limit],
    );
    return rows.map(({ order_id }) => order_id);
  }

  async update(
    tx: EntityManager,
    orderId: string,
    change: Partial<Omit<Order, 'orderId' | 'userId' | 'createdAt' | 'updatedAt'>>,
  ): Promise<void> {
    await tx.update(Order, { orderId }, { ...change, updatedAt: () => 'now()' });
  }
}
