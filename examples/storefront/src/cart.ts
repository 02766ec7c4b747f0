import type { Product } from './api.js';
import { session } from './session.js';
import { isObject, Stored } from './stored.js';

/** A product in the cart, as it was when it was put there. */
export interface CartLine {
  readonly id: number;
  readonly name: string;
  /** Rupiah. */
  readonly price: number;
  readonly image: string | null;
  readonly quantity: number;
}

/** The service's limits of an order. */
export const MAX_QUANTITY = 999;
export const MAX_PRODUCTS = 50;

const carts = new Stored<Readonly<Record<string, readonly CartLine[]>>>('bakery.carts', (value) =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([owner, lines]) => [
          owner,
          Array.isArray(lines) ? lines.filter(isLine).slice(0, MAX_PRODUCTS) : [],
        ]),
      )
    : {},
);

/** The cart of whoever is signed in; it survives reloads and is the same in every tab. */
export const cart = {
  lines: (): readonly CartLine[] => carts.get()[owner()] ?? [],
  pieces: (): number => cart.lines().reduce((sum, { quantity }) => sum + quantity, 0),
  total: (): number =>
    cart.lines().reduce((sum, { price, quantity }) => sum + Math.round(price) * quantity, 0),

  /** @returns false when the cart holds as many different products as an order may */
  add(product: Product, quantity: number): boolean {
    const lines = cart.lines();
    const held = lines.find(({ id }) => id === product.id);
    if (held === undefined && lines.length >= MAX_PRODUCTS) return false;
    const line = {
      ...pick(product),
      quantity: Math.min((held?.quantity ?? 0) + quantity, MAX_QUANTITY),
    };
    save(held === undefined ? [...lines, line] : lines.map((other) => (other.id === line.id ? line : other)));
    return true;
  },

  setQuantity(id: number, quantity: number): void {
    const kept = Math.max(1, Math.min(Math.trunc(quantity), MAX_QUANTITY));
    save(cart.lines().map((line) => (line.id === id ? { ...line, quantity: kept } : line)));
  },

  /** Takes over name and price of the catalog. */
  update(product: Product): void {
    save(cart.lines().map((line) => (line.id === product.id ? { ...line, ...pick(product) } : line)));
  },

  remove(id: number): void {
    save(cart.lines().filter((line) => line.id !== id));
  },

  clear(): void {
    save([]);
  },

  watch(listener: () => void, signal?: AbortSignal): void {
    carts.watch(listener, signal);
  },
};

function owner(): string {
  return String(session.get()?.id ?? '');
}

function save(lines: readonly CartLine[]): void {
  carts.set({ ...carts.get(), [owner()]: lines });
}

function pick({ id, name, price, images }: Product): Omit<CartLine, 'quantity'> {
  return { id, name, price, image: images?.[0] ?? null };
}

function isLine(value: unknown): value is CartLine {
  return (
    isObject(value) &&
    Number.isSafeInteger(value.id) &&
    typeof value.name === 'string' &&
    typeof value.price === 'number' &&
    (typeof value.image === 'string' || value.image === null) &&
    Number.isSafeInteger(value.quantity) &&
    Number(value.quantity) >= 1 &&
    Number(value.quantity) <= MAX_QUANTITY
  );
}
