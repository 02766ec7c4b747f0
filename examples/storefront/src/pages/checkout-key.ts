const PLACE = 'bakery.checkout';

interface Item {
  readonly product_id: number;
  readonly quantity: number;
}

/**
 * The key of this attempt to order: the same for the same items until the order is made, so that a repetition after a
 * lost answer, a reload or a second click does not order twice.
 */
export function idempotencyKey(items: readonly Item[]): string {
  const wanted = JSON.stringify(items);
  const kept = sessionStorage.getItem(PLACE)?.split('\n');
  if (kept?.[0] !== undefined && kept[1] === wanted) return kept[0];
  const key = crypto.randomUUID();
  sessionStorage.setItem(PLACE, `${key}\n${wanted}`);
  return key;
}

export function orderIsMade(): void {
  sessionStorage.removeItem(PLACE);
}
