/** Progress of an order in the bakery. The order's `status` is the progress of its payment. */
export const FULFILMENTS = ['new', 'preparing', 'ready', 'collected', 'refused'] as const;
export type Fulfilment = (typeof FULFILMENTS)[number];

/** Steps that an order can take from each step, forwards and back. Only a paid order can become preparing. */
export const NEXT_STEPS: Readonly<Record<Fulfilment, readonly Fulfilment[]>> = {
  new: ['preparing', 'refused'],
  preparing: ['ready', 'refused', 'new'],
  ready: ['collected', 'refused', 'preparing'],
  collected: ['ready'],
  refused: [],
};
