declare const LOCKED: unique symbol;

/** Row that the current transaction has locked or created. Only functions that lock or create the row return this type. */
export type Locked<T> = T & { readonly [LOCKED]: true };
