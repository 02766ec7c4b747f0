import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { DataSource, type EntityManager } from 'typeorm';
import type { Customer } from '../common/access.js';
import { violatedConstraint } from '../common/errors/error-info.js';
import { failures, type FieldMessages } from '../common/errors/failures.js';
import { FairQueue } from '../common/fair-queue.js';
import { checkDto } from '../common/validation/validation.pipe.js';
import { type Offer, ProductsService } from '../products/products.service.js';
import { ShopService } from '../shop/shop.service.js';
import { UsersService } from '../users/users.service.js';
import { CheckoutService } from './checkout.service.js';
import { OrderItem, type SoldItem } from './order-item.entity.js';
import { CreateOrderDto, PRODUCT_GONE } from './order-requests.dto.js';
import { IS_OPEN, PAY_TIME_HOURS } from './order-status.js';
import { Order } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { PickupsService } from './pickups.service.js';

const MAX_OPEN_ORDERS = 50;
const KEY_CONSTRAINT = 'orders_user_id_idempotency_key_key';

const ordersCreated = new Counter({
  name: 'bakery_orders_created_total',
  help: 'Orders that were committed',
});

@Injectable()
export class OrderPlacementService {
  /**
   * At most three orders are stored at a time, and customers are served in turn. Otherwise the parallel orders of one customer,
   * which wait for this customer's lock, would occupy all connections to the database.
   */
  readonly #placements = new FairQueue({ capacity: 3, maxWaiting: 1_000, maxWaitMs: 20_000 });

  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersRepository,
    private readonly users: UsersService,
    private readonly products: ProductsService,
    private readonly shop: ShopService,
    private readonly pickups: PickupsService,
    private readonly checkout: CheckoutService,
  ) {}

  /**
   * Commits a pending order and opens its payment page. A repeated request with the same Idempotency-Key returns the order
   * of the first request. If the gateway is unavailable, the order stays, and a repeated request with the key opens its
   * page.
   * @param body body and Idempotency-Key as received. The products and the pickup time of an invalid order are checked too
   */
  async create(customer: Customer, body: object, disconnectSignal?: AbortSignal): Promise<Order> {
    const { value: request, details, isCut } = await checkDto(CreateOrderDto, body);
    if (isCut && details === null) throw failures.malformedRequest();
    const store = () => this.#store(customer, request, details);
    const turn = { client: String(customer.id), disconnectSignal };
    const stored = await this.#placements.run(store, turn).catch((error: unknown) => {
      // A process of version 1.2 does not take the customer's lock, and may have stored an order with this key meanwhile.
      if (violatedConstraint(error) === KEY_CONSTRAINT) return null;
      throw error;
    });
    if (stored === null) return this.#findRepeated(customer, request);
    ordersCreated.inc();
    return this.checkout.ensurePage(stored.order, stored.attempt);
  }

  /**
   * Returns the order of an earlier request with this key. Opens a payment page if a pending order has none.
   * @throws Failure 409 for the key of another request
   */
  async #findRepeated(customer: Customer, request: CreateOrderDto): Promise<Order> {
    const idempotencyKey = request['idempotency-key'] ?? null;
    const order = await this.orders.find({ userId: customer.id, idempotencyKey });
    if (order?.requestDigest?.equals(hashOrderRequest(request)) !== true)
      throw failures.idempotencyKeyReused();
    return order.status === 'pending' ? this.checkout.ensurePage(order) : order;
  }

  /**
   * Stores an order at catalog prices, with its first payment attempt. Returns null if the key has an order already, even if
   * the offer has changed since then.
   * @param details messages of the fields that are invalid by themselves; null if all are valid
   * @throws Failure 400 with the messages of all failing fields, 409 if the customer has too many open orders
   */
  async #store(customer: Customer, request: CreateOrderDto, details: FieldMessages | null) {
    const idempotencyKey = request['idempotency-key'] ?? null;
    const shop = await this.shop.get();
    const { phone = null, note = null } = request;
    const wanted = details?.items === undefined ? request.items : [];
    const pickupAt = details?.pickup_at === undefined ? (request.pickup_at ?? null) : null;
    return this.dataSource.transaction(async (tx) => {
      await this.users.lock(tx, customer.id); // Further orders of the customer wait until this transaction ends.
      // Check under the lock: an earlier request with this key has committed by now.
      const mayBeRepeated = details === null && idempotencyKey !== null;
      if (mayBeRepeated && (await tx.existsBy(Order, { userId: customer.id, idempotencyKey }))) return null;
      const productIds = wanted.map(({ product_id }) => product_id);
      const { items, itemProblems } = priceItems(wanted, await this.products.lockOffers(tx, productIds));
      // For a malformed pickup time, the only further problem is a closed shop.
      const pickupProblems = await this.pickups.checkPickup(tx, shop, pickupAt);
      const problems = { ...itemProblems, ...details, ...pickupProblems };
      if (Object.keys(problems).length > 0) throw failures.validation(problems);
      const grossAmount = computeTotal(items);
      // Check this last, so that invalid fields are reported first, with 400.
      if ((await countOpen(tx, customer.id)) >= MAX_OPEN_ORDERS) throw failures.tooManyOpenOrders();

      const order = Object.assign(new Order(), {
        orderId: randomUUID(),
        userId: customer.id,
        customer,
        items,
        grossAmount,
        createdAt: new Date(),
        pickupAt,
        phone,
        note,
        idempotencyKey,
        requestDigest: hashOrderRequest(request),
      });
      order.payUntil = order.computeEndOfPage(shop);
      await insertOrder(tx, order);
      return { order, attempt: await this.checkout.insertAttempt(tx, order.orderId, 1, order.payUntil) };
    });
  }
}

/** Builds the items of an order at catalog prices, and the field messages of the items that cannot be ordered. */
function priceItems(wanted: CreateOrderDto['items'], offers: ReadonlyMap<number, Offer>) {
  const itemProblems: Record<string, string> = {};
  const items: SoldItem[] = [];
  for (const [position, { product_id: productId, quantity, price: shown }] of wanted.entries()) {
    const offer = offers.get(productId);
    if (offer === undefined) itemProblems[`items.${position}.product_id`] = PRODUCT_GONE;
    else if (shown != null && shown !== offer.price)
      itemProblems[`items.${position}.price`] = `price is now ${offer.price}`;
    else items.push({ productId, ...offer, quantity });
  }
  return { items, itemProblems };
}

/** @throws Failure 400 if the total cannot be paid */
function computeTotal(items: readonly SoldItem[]): number {
  const grossAmount = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  if (grossAmount < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (grossAmount > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return grossAmount;
}

/** Counts the open orders of a customer. */
async function countOpen(tx: EntityManager, userId: number): Promise<number> {
  // The condition on `createdAt` lets the index skip older orders, whose time to pay has passed.
  return tx
    .createQueryBuilder(Order, 'o')
    .where('o.userId = :userId', { userId })
    .andWhere(`o.createdAt > now() - interval '${PAY_TIME_HOURS} hours'`)
    .andWhere(IS_OPEN)
    .getCount();
}

async function insertOrder(tx: EntityManager, order: Order): Promise<void> {
  // `tx.insert` would also read the columns with default values back, which takes five times as long.
  await tx.createQueryBuilder().insert().into(Order).values(order).updateEntity(false).execute();
  const { orderId, items } = order;
  await tx.insert(
    OrderItem,
    items.map((item, position) => ({ ...item, orderId, position })),
  );
}

/** Hashes a request as version 1.2 does, so that a client can repeat a request that it sent before the upgrade. */
function hashOrderRequest({ items, pickup_at, phone, note }: Readonly<CreateOrderDto>): Buffer {
  const itemValues = items.map(({ product_id, quantity, price }) => [
    product_id,
    quantity,
    ...(price == null ? [] : [price]),
  ]);
  const optionalValues = [pickup_at?.toISOString() ?? null, phone ?? null, note ?? null];
  const isWithoutOptions = optionalValues.every((value) => value === null);
  const canonical = isWithoutOptions ? itemValues : [itemValues, optionalValues];
  return createHash('sha256').update(JSON.stringify(canonical)).digest();
}
