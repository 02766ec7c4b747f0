import { isCompleted, type OrderStatus } from './order-status.js';

/** What the bakery does with an order. Whether it is paid stands in its status. */
export const FULFILMENTS = ['new', 'preparing', 'ready', 'collected', 'refused'] as const;
export type Fulfilment = (typeof FULFILMENTS)[number];

const NEXT: Readonly<Record<Fulfilment, readonly Fulfilment[]>> = {
  new: ['preparing', 'refused'],
  preparing: ['ready', 'refused'],
  ready: ['collected', 'refused'],
  collected: [],
  refused: [],
};

/** Whether an order may take a step: only what is paid is prepared. */
export function mayBecome(
  order: { readonly status: OrderStatus; readonly fulfilment: Fulfilment },
  next: Fulfilment,
): boolean {
  return NEXT[order.fulfilment].includes(next) && (next !== 'preparing' || isCompleted(order.status));
}
