import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { parseInstant } from '../common/calendar.js';
import type { AuthUser } from '../common/access.js';
import { violatedConstraint } from '../common/errors/database-errors.js';
import { Failure, type FieldMessages, failures } from '../common/errors/failures.js';
import { ordersCreated } from './orders.metrics.js';
import { type Offer, ProductsService } from '../products/products.service.js';
import { ShopService } from '../shop/shop.service.js';
import { CheckoutService, findEndOfPage, type LeasedAttempt } from './checkout.service.js';
import { type CreateOrderDto, PRODUCT_GONE } from './create-order.dto.js';
import { lockPlacement } from './locks.js';
import { Order } from './order.entity.js';
import type { SoldItem } from './order-item.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { PickupsService } from './pickups.service.js';

const MAX_OPEN_ORDERS = 50;
const KEY_CONSTRAINT = 'orders_user_id_idempotency_key_key';

@Injectable()
export class OrderPlacementService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly products: ProductsService,
    private readonly shop: ShopService,
    private readonly pickups: PickupsService,
    private readonly checkout: CheckoutService,
  ) {}

  /**
   * Commits a pending order and opens its payment page. A repeated request with the same Idempotency-Key returns the order
   * of the first request. If the gateway is unavailable, the order stays, and a retry with the key opens its page.
   */
  async create(customer: AuthUser, request: CreateOrderDto): Promise<Order> {
    const digest = hashOrderRequest(request);
    const repeated = await this.#findRepeated(customer, request, digest);
    if (repeated !== null) return repeated;

    let stored: { readonly order: Order; readonly attempt: LeasedAttempt };
    try {
      stored = await this.#store(customer, request, digest);
    } catch (error) {
      // A request with the same key may have committed meanwhile. Return its order, even if the offer has changed since.
      const mayBeRepeated = error instanceof Failure || violatedConstraint(error) === KEY_CONSTRAINT;
      const committed = mayBeRepeated ? await this.#findRepeated(customer, request, digest) : null;
      if (committed === null) throw error;
      return committed;
    }
    ordersCreated.inc();
    const { order } = stored;
    const attempt = await this.checkout.requestPage(order, customer, stored.attempt);
    // The order has ended, or this request's lease expired during the call and another request has taken it.
    if (attempt === null) return this.checkout.ensurePage(order, customer);
    return Object.assign(order, { attempts: [attempt], payUntil: attempt.expiresAt });
  }

  /** Stores an order at catalog prices, with a payment attempt whose lease this request holds. */
  async #store(customer: AuthUser, request: CreateOrderDto, requestDigest: Buffer) {
    const shop = await this.shop.get();
    const pickupAt = parseInstant(request.pickup_at);
    return this.dataSource.transaction(async (tx) => {
      const productIds = request.items.map(({ product_id }) => product_id);
      const placement = await lockPlacement(tx, customer.id);
      // Both statements are sent at once, and their timeouts start now. So only the second one may wait for a lock.
      const [openOrders, offers] = await Promise.all([
        this.orders.countOpen(tx, placement),
        this.products.lockOffers(tx, productIds),
      ]);
      const problems = await this.pickups.findProblem(tx, shop, pickupAt);
      const order = buildOrder(request, offers, problems);
      if (openOrders >= MAX_OPEN_ORDERS) throw failures.tooManyOpenOrders();
      const payUntil = findEndOfPage(order, shop);
      const idempotencyKey = request['idempotency-key'] ?? null;
      Object.assign(order, { userId: customer.id, idempotencyKey, requestDigest, payUntil });
      await this.orders.insert(tx, order);
      return { order, attempt: await this.checkout.insertFirstAttempt(tx, order.orderId, payUntil) };
    });
  }

  /** Returns the order of an earlier request with this key, or null. Opens a payment page if a pending order has none. */
  async #findRepeated(customer: AuthUser, request: CreateOrderDto, digest: Buffer): Promise<Order | null> {
    const idempotencyKey = request['idempotency-key'];
    if (idempotencyKey === undefined) return null;
    const order = await this.orders.find({ userId: customer.id, idempotencyKey });
    if (order === null) return null;
    if (order.requestDigest?.equals(digest) !== true) throw failures.idempotencyKeyReused();
    return order.status === 'pending' ? this.checkout.ensurePage(order, customer) : order;
  }
}

/**
 * Builds an order at catalog prices, still without its customer.
 * @param offers available products by id
 * @param problems field messages of checks that have already failed
 * @throws Failure 400 with these problems and those of the items, or if the total cannot be paid
 */
function buildOrder(
  { items: wanted, pickup_at, phone, note }: Readonly<CreateOrderDto>,
  offers: ReadonlyMap<number, Offer>,
  problems: FieldMessages,
): Order {
  const details: Record<string, string> = { ...problems };
  const items: SoldItem[] = [];
  for (const [position, { product_id: productId, quantity, price: shown }] of wanted.entries()) {
    const offer = offers.get(productId);
    if (offer === undefined) details[`items.${position}.product_id`] = PRODUCT_GONE;
    else if (shown != null && shown !== offer.price)
      details[`items.${position}.price`] = `price is now ${offer.price}`;
    else items.push({ productId, ...offer, quantity });
  }
  if (Object.keys(details).length > 0) throw failures.validation(details);
  const grossAmount = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  if (grossAmount < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (grossAmount > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return Object.assign(new Order(), {
    orderId: randomUUID(),
    items,
    grossAmount,
    createdAt: new Date(),
    pickupAt: parseInstant(pickup_at),
    phone: phone ?? null,
    note: note ?? null,
  });
}

/** Hashes a request as version 1.2 does, so that a request that was first sent before the upgrade can be repeated after it. */
function hashOrderRequest({ items, pickup_at, phone, note }: Readonly<CreateOrderDto>): Buffer {
  const lines = items.map(({ product_id, quantity, price }) =>
    price == null ? [product_id, quantity] : [product_id, quantity, price],
  );
  const wishes = [parseInstant(pickup_at)?.toISOString() ?? null, phone ?? null, note ?? null];
  const canonical = wishes.every((wish) => wish === null) ? lines : [lines, wishes];
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
