import { useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api, type Schemas } from './client';
import { hasCode } from './errors';
import { keepOrder } from './orders';
import { productIsGone } from './products';

type Item = Schemas['NewOrderItemDto'];

const STORAGE_KEY = 'bakery.checkout';
const ENDED_UNPAID = ['cancel', 'expire', 'deny', 'failure'];

/** Makes an order of the items. Products that are gone are known to `useProduct` then. */
export function usePlaceOrder() {
  return useMutation({
    mutationFn: async (items: Item[]) => {
      const order = await postOrder(items);
      // The key belonged to an order of the same items that was cancelled or has expired. This is to be a new one.
      return ENDED_UNPAID.includes(order.status) ? postOrder(items) : order;
    },
    onSuccess: keepOrder,
    onError: (error, items) => {
      for (const { product_id } of goneItems(error, items)) productIsGone(product_id);
    },
  });
}

/** The items that the service refused because their product is not in the catalog any more. */
export function goneItems(error: Error, items: Item[]): Item[] {
  if (!hasCode(error, 400)) return [];
  const { details } = error;
  return items.filter(
    (_, index) => details[`items.${index}.product_id`] === 'product is no longer available',
  );
}

async function postOrder(items: Item[]) {
  const params = { header: { 'Idempotency-Key': idempotencyKey(items) } };
  const { order } = await dataOf(api.POST('/api/orders', { params, body: { items } }));
  sessionStorage.removeItem(STORAGE_KEY);
  return order;
}

/**
 * The same key for the same items until the service has answered with the order, so that a second click, a reload or a
 * new try after a lost answer does not order twice.
 */
function idempotencyKey(items: Item[]) {
  const wanted = JSON.stringify(items);
  const [key, kept] = sessionStorage.getItem(STORAGE_KEY)?.split('\n') ?? [];
  if (key !== undefined && kept === wanted) return key;
  const newKey = crypto.randomUUID();
  sessionStorage.setItem(STORAGE_KEY, `${newKey}\n${wanted}`);
  return newKey;
}
