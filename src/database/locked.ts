declare const LOCKED: unique symbol;

/** Row or key that the current transaction has locked or created. Only functions that lock or create it return this type. */
export type Locked<T> = T & { readonly [LOCKED]: true };
