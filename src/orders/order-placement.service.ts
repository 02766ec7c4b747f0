import { Injectable } from '@nestjs/common';
import { createHash, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { parseInstant } from '../common/calendar.js';
import type { Principal } from '../common/current-user.decorator.js';
import { violatedConstraint } from '../common/database-errors.js';
import { Failure, type FieldMessages, failures } from '../common/errors.js';
import { ordersCreated } from '../common/metrics.js';
import { type Offer, ProductsService } from '../products/products.service.js';
import { ShopService } from '../shop/shop.service.js';
import { CheckoutService } from './checkout.service.js';
import { type CreateOrderDto, PICKUP_IMPOSSIBLE, PRODUCT_GONE } from './create-order.dto.js';
import { Order, OrderItem } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

const KEY_CONSTRAINT = 'orders_user_id_idempotency_key_key';

@Injectable()
export class OrderPlacementService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly products: ProductsService,
    private readonly shop: ShopService,
    private readonly checkout: CheckoutService,
  ) {}

  /**
   * Commits a pending order and opens its payment page. A repeated request with the same Idempotency-Key returns the order
   * of the first request.
   * @throws Failure 400 for products, prices or a pickup time that are not on offer, or a total that cannot be paid; 409 for
   *   a key of another request; 502 if the gateway is unavailable: the order stays, and a retry with the key opens its page
   */
  async create(customer: Principal, request: CreateOrderDto): Promise<Order> {
    const digest = hashRequest(request);
    const repeated = await this.#findRepeated(customer, request, digest);
    if (repeated !== null) return repeated;

    let stored: { readonly order: Order; readonly attempt: PaymentAttempt };
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
    // The order has ended, or this request's claim expired during the call and another request has claimed the attempt.
    if (attempt === null) return this.checkout.ensurePage(await this.orders.get(order.orderId), customer);
    return Object.assign(order, { attempts: [attempt] });
  }

  /** Stores an order at catalog prices, with a payment attempt that this request has claimed. */
  async #store(customer: Principal, request: CreateOrderDto, requestDigest: Buffer) {
    const pickupAt = parseInstant(request.pickup_at);
    const isPickupImpossible = pickupAt !== null && !(await this.shop.isPickupPossible(pickupAt));
    return this.dataSource.transaction(async (tx) => {
      const productIds = request.items.map(({ product_id }) => product_id);
      const offers = await this.products.lockOffers(tx, productIds);
      const order = buildOrder(request, offers, isPickupImpossible ? { pickup_at: PICKUP_IMPOSSIBLE } : {});
      const idempotencyKey = request['idempotency-key'] ?? null;
      Object.assign(order, { userId: customer.id, idempotencyKey, requestDigest });
      const attempt = PaymentAttempt.create(order.orderId, 1).claim();
      await this.orders.insert(tx, order, attempt);
      return { order, attempt };
    });
  }

  /** Returns the order of an earlier request with this key, or null. Opens a payment page if a pending order has none. */
  async #findRepeated(customer: Principal, request: CreateOrderDto, digest: Buffer): Promise<Order | null> {
    const idempotencyKey = request['idempotency-key'];
    if (idempotencyKey === undefined) return null;
    const order = await this.orders.find({ userId: customer.id, idempotencyKey });
    if (order === null) return null;
    if (order.requestDigest?.equals(digest) !== true) throw failures.idempotencyKeyReused();
    return this.checkout.ensurePage(order, customer);
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
  const orderId = randomUUID();
  const details: Record<string, string> = { ...problems };
  const items: OrderItem[] = [];
  for (const [position, { product_id: productId, quantity, price: shown }] of wanted.entries()) {
    const offer = offers.get(productId);
    if (offer === undefined) details[`items.${position}.product_id`] = PRODUCT_GONE;
    else if (shown != null && shown !== offer.price)
      details[`items.${position}.price`] = `price is now ${offer.price}`;
    else items.push(Object.assign(new OrderItem(), { orderId, position, productId, ...offer, quantity }));
  }
  if (Object.keys(details).length > 0) throw failures.validation(details);
  const grossAmount = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  if (grossAmount < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (grossAmount > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return Object.assign(new Order(), {
    orderId,
    items,
    grossAmount,
    createdAt: new Date(),
    pickupAt: parseInstant(pickup_at),
    phone: phone ?? null,
    note: note ?? null,
  });
}

/** Hashes a request. Version 1.1 computes the same hash for a request without fields of 1.2, so keys from 1.1 stay valid. */
function hashRequest({ items, pickup_at, phone, note }: Readonly<CreateOrderDto>): Buffer {
  const lines = items.map(({ product_id, quantity, price }) =>
    price == null ? [product_id, quantity] : [product_id, quantity, price],
  );
  const wishes = [parseInstant(pickup_at)?.toISOString() ?? null, phone ?? null, note ?? null];
  const canonical = wishes.every((wish) => wish === null) ? lines : [lines, wishes];
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
