import { BakeryFailure, dataOf } from 'bakery-client';
import type { CartLine } from '../state/cart';
import { CHECKOUT_KEY_NAME, type CheckoutDetails } from '../state/checkout-details';
import { api, type Schemas } from './client';
import { forgetIdempotencyKey, reuseOrCreateIdempotencyKey } from './idempotency';
import { isPaid, isUnderWay } from './order-status';
import { ORDER_LISTS_KEY, orderDetail } from './orders';
import { PRODUCT_LISTS_KEY, productDetail } from './products';
import { queryClient } from './query-client';
import { shopInfo } from './shop';

type NewOrder = Schemas['CreateOrderDto'];
type CompleteDetails = CheckoutDetails & { pickup_at: string };

/** Places an order for the lines of the cart. If the service rejects the order, the cart shows what has changed. */
export async function placeOrder(lines: CartLine[], details: CompleteDetails) {
  const order = toNewOrder(lines, details);
  try {
    let response = await postOrder(order);
    // The order has ended, so the response is that of an earlier request with the same idempotency key: a new order would be
    // under way. Order again: `postOrder` has removed that key and creates a new one.
    if (!isUnderWay(response.order) && !isPaid(response.order)) response = await postOrder(order);
    // The page of the order shows it at once.
    queryClient.setQueryData(orderDetail(response.order.order_id).queryKey, response);
    void queryClient.invalidateQueries({ queryKey: ORDER_LISTS_KEY });
    return response.order;
  } catch (error) {
    if (error instanceof BakeryFailure) await applyCorrections(lines, error.details);
    throw error;
  }
}

function toNewOrder(lines: CartLine[], { phone, note, pickup_at }: CompleteDetails): NewOrder {
  return {
    // The service compares these prices with its own, which are rounded to whole rupiah.
    items: lines.map(({ id, quantity, price }) => ({ product_id: id, quantity, price: Math.round(price) })),
    pickup_at,
    ...(phone.trim() !== '' && { phone }),
    ...(note.trim() !== '' && { note }),
  };
}

async function postOrder(body: NewOrder) {
  const key = reuseOrCreateIdempotencyKey(CHECKOUT_KEY_NAME, body);
  const params = { header: { 'Idempotency-Key': key } };
  const response = await dataOf(api.POST('/api/orders', { params, body }));
  forgetIdempotencyKey(CHECKOUT_KEY_NAME, key);
  return response;
}

/** Updates the prices, sold-out products and pickup times that the cart shows, after the service has rejected an order. */
async function applyCorrections(lines: CartLine[], details: BakeryFailure['details']) {
  for (const [index, { id }] of lines.entries()) {
    if (`items.${index}.product_id` in details) await markUnavailable(id);
    if (`items.${index}.price` in details)
      await queryClient.invalidateQueries({ queryKey: productDetail(id).queryKey });
  }
  if ('pickup_at' in details) await queryClient.invalidateQueries({ queryKey: shopInfo.queryKey });
}

/** Caches that a product is unavailable. The lists of products are loaded again when they are shown. */
async function markUnavailable(id: number) {
  // A response that is still loading may be older than the rejection.
  await queryClient.cancelQueries({ queryKey: productDetail(id).queryKey });
  queryClient.setQueryData(productDetail(id).queryKey, null);
  await queryClient.invalidateQueries({ queryKey: PRODUCT_LISTS_KEY });
}
