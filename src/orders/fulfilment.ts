/** Progress of an order in the bakery. Payment is the order's status. */
export const FULFILMENTS = ['new', 'preparing', 'ready', 'collected', 'refused'] as const;
export type Fulfilment = (typeof FULFILMENTS)[number];

const NEXT: Readonly<Record<Fulfilment, readonly Fulfilment[]>> = {
  new: ['preparing', 'refused'],
  preparing: ['ready', 'refused'],
  ready: ['collected', 'refused'],
  collected: [],
  refused: [],
};

/** Returns true if an order can take a step. Only a paid order can become preparing. */
export function canBecome(
  order: { readonly isPaid: boolean; readonly fulfilment: Fulfilment },
  next: Fulfilment,
): boolean {
  return NEXT[order.fulfilment].includes(next) && (next !== 'preparing' || order.isPaid);
}
