import { randomUUID } from 'node:crypto';
import { parseInstant } from '../common/calendar.js';
import { type FieldMessages, failures } from '../common/errors.js';
import type { Offer } from '../products/products.service.js';
import { type CreateOrderDto, type NewOrderItemDto, PRODUCT_GONE } from './create-order.dto.js';
import { Order, OrderItem } from './order.entity.js';

/**
 * Builds an order at catalog prices. The caller adds the customer.
 * @param offers available products by id
 * @param problems field messages of the caller's own checks
 * @throws Failure 400 for these problems, for products and prices that are not on offer, or for a total that cannot be paid
 */
export function buildOrder(
  { items: wanted, pickup_at, phone, note }: Readonly<CreateOrderDto>,
  offers: ReadonlyMap<number, Offer>,
  problems: FieldMessages,
): Order {
  const details = { ...findItemProblems(wanted, offers), ...problems };
  if (Object.keys(details).length > 0) throw failures.validation(details);
  const orderId = randomUUID();
  const items = wanted.map(({ product_id: productId, quantity }, position) => {
    const { name = '', price = 0 } = offers.get(productId) ?? {};
    const item = { orderId, position, productId, name, price, quantity };
    return Object.assign(new OrderItem(), item);
  });
  const total = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  if (total < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (total > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return Object.assign(new Order(), {
    orderId,
    items,
    grossAmount: total,
    createdAt: new Date(),
    pickupAt: parseInstant(pickup_at),
    phone: phone ?? null,
    note: note ?? null,
  });
}

function findItemProblems(
  wanted: readonly NewOrderItemDto[],
  offers: ReadonlyMap<number, Offer>,
): FieldMessages {
  const problems: Record<string, string> = {};
  for (const [index, { product_id, price: shown }] of wanted.entries()) {
    const offer = offers.get(product_id);
    if (offer === undefined) problems[`items.${index}.product_id`] = PRODUCT_GONE;
    else if (shown != null && shown !== offer.price)
      problems[`items.${index}.price`] = `price is now ${offer.price}`;
  }
  return problems;
}
