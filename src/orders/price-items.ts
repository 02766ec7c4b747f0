import { failures } from '../common/errors/failures.js';
import type { Offer } from '../products/products.service.js';
import type { SoldItem } from './order-item.entity.js';
import { type CreateOrderDto, PRODUCT_GONE } from './order-requests.dto.js';

/** Builds the items of an order at catalog prices, and the field messages of the items that cannot be ordered. */
export function priceItems(wanted: CreateOrderDto['items'], offers: ReadonlyMap<number, Offer>) {
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
export function computeTotal(items: readonly SoldItem[]): number {
  const grossAmount = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0);
  if (grossAmount < 1) throw failures.validation({ items: 'the total should be at least 1 rupiah' });
  if (grossAmount > Number.MAX_SAFE_INTEGER)
    throw failures.validation({ items: 'the total is too large to be paid' });
  return grossAmount;
}
