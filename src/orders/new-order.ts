import { randomUUID } from 'node:crypto';
import { failures } from '../common/errors.js';
import type { Offer } from '../products/products.service.js';
import { type NewOrderItemDto, PRODUCT_GONE } from './create-order.dto.js';
import { Order, OrderItem } from './order.entity.js';

/**
 * An order at the prices of the catalog, not yet stored; whose it is and its payment attempt are left to the caller.
 * @param offers what the catalog has, by the products' ids
 * @throws Failure 400 for products that are not there or a total that cannot be paid
 */
export function newOrder(wanted: readonly NewOrderItemDto[], offers: ReadonlyMap<number, Offer>): Order {
  const gone = wanted.flatMap(({ product_id }, index) => (offers.has(product_id) ? [] : [index]));
  if (gone.length > 0) {
    const details = gone.map((index) => [`items.${index}.product_id`, PRODUCT_GONE]);
    throw failures.validation(Object.fromEntries(details) as Record<string, string>);
  }
  const orderId = randomUUID();
  const items = wanted.map(({ product_id: productId, quantity }, position) => {
    const { name = '', price = 0 } = offers.get(productId) ?? {};
    const item = { orderId, position, productId, name, price: String(price), quantity };
    return Object.assign(new OrderItem(), item);
  });
  const total = items.reduce((sum, { price, quantity }) => sum + Number(price) * quantity, 0);
  if (total < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (total > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return Object.assign(new Order(), {
    orderId,
    items,
    status: 'pending',
    fulfilment: 'new',
    grossAmount: String(total),
    createdAt: new Date(),
    paymentType: null,
    fraudStatus: null,
    completedAt: null,
  });
}
