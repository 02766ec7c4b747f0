declare const LOCKED: unique symbol;

/** Row or key that the current transaction has locked. Only functions that lock it return one. */
export type Locked<T> = T & { readonly [LOCKED]: true };
