import { randomUUID } from 'node:crypto';
import { parseInstant } from '../common/calendar.js';
import { type FieldMessages, failures } from '../common/errors.js';
import type { Offer } from '../products/products.service.js';
import { type CreateOrderDto, PRODUCT_GONE } from './create-order.dto.js';
import { Order, OrderItem } from './order.entity.js';

/**
 * Builds an order at catalog prices. The caller adds the customer.
 * @param offers available products by id
 * @param problems field messages of the caller's own checks
 * @throws Failure 400 with the problems and with messages for products and prices that are not on offer, or if the total
 *   cannot be paid
 */
export function buildOrder(
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
