import { dataOf } from 'bakery-client';
import { api, type Schemas } from './client';
import { hasCode } from './errors';
import { keepOrder } from './orders';
import { reloadProducts } from './products';

type Item = Schemas['NewOrderItemDto'];

const STORAGE_KEY = 'bakery.checkout';
const ENDED_UNPAID = ['cancel', 'expire', 'deny', 'failure'];

/** Makes an order of the items. If one of them is refused, the catalog is asked for all of them again. */
export async function placeOrder(items: Item[]) {
  try {
    let answer = await postOrder(items);
    // The key belonged to an order of the same items that was cancelled or has expired. This is to be a new one.
    if (ENDED_UNPAID.includes(answer.order.status)) answer = await postOrder(items);
    await keepOrder(answer);
    return answer.order;
  } catch (error) {
    if (hasCode(error, 400)) await reloadProducts();
    throw error;
  }
}

async function postOrder(items: Item[]) {
  const params = { header: { 'Idempotency-Key': idempotencyKey(items) } };
  const answer = await dataOf(api.POST('/api/orders', { params, body: { items } }));
  sessionStorage.removeItem(STORAGE_KEY);
  return answer;
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
