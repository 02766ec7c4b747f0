import type { Product } from '../api/client';
import { useSession } from './session';
import { createSharedStore } from './shared-store';

/** Product and quantity in a cart. Name, price and images are copies from the last time the product was added. */
export interface CartLine extends Pick<Product, 'id' | 'name' | 'price' | 'images'> {
  quantity: number;
}

export const MAX_QUANTITY = 999;

const NO_LINES: CartLine[] = [];

/** Carts by user id. The cart of a visitor has the key ''. */
const useCarts = createSharedStore<{ carts: Record<string, CartLine[]> }>('bakery.cart', { carts: {} });

export function useCart() {
  const owner = useSession(({ user }) => user?.id ?? '');
  return useCarts(({ carts }) => carts[owner] ?? NO_LINES);
}

export function countPieces(lines: CartLine[]) {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Rounds the price of a piece to whole rupiah, as the service does. */
export function computeLineTotal({ price, quantity }: CartLine) {
  return Math.round(price) * quantity;
}

/** Adds pieces of a product to the cart, up to MAX_QUANTITY. Returns the changed lines of the cart. */
export function addToCart({ id, name, price, images }: Omit<CartLine, 'quantity'>, quantity: number) {
  return changeCart((lines) => {
    const inCart = lines.find((line) => line.id === id)?.quantity ?? 0;
    const added = { id, name, price, images, quantity: Math.min(inCart + quantity, MAX_QUANTITY) };
    return inCart === 0 ? [...lines, added] : lines.map((line) => (line.id === id ? added : line));
  });
}

export function setQuantity(id: number, quantity: number) {
  changeCart((lines) => lines.map((line) => (line.id === id ? { ...line, quantity } : line)));
}

export function removeFromCart(id: number) {
  changeCart((lines) => lines.filter((line) => line.id !== id));
}

/** Removes the pieces of an order from the cart. Other pieces stay, also of the same products. */
export function removeOrderedPieces(ordered: CartLine[]) {
  const orderedById = new Map(ordered.map(({ id, quantity }) => [id, quantity]));
  changeCart((lines) =>
    lines
      .map((line) => ({ ...line, quantity: line.quantity - (orderedById.get(line.id) ?? 0) }))
      .filter(({ quantity }) => quantity > 0),
  );
}

/** Moves the lines of the visitor's cart into the cart of the signed-in user. */
export function adoptVisitorCart() {
  // Another tab may have adopted the cart already. Without localStorage, `persist` is undefined.
  void (useCarts as Partial<typeof useCarts>).persist?.rehydrate();
  const { '': lines = NO_LINES, ...carts } = useCarts.getState().carts;
  if (lines.length === 0) return;
  useCarts.setState({ carts });
  for (const line of lines) addToCart(line, line.quantity);
}

function changeCart(change: (lines: CartLine[]) => CartLine[]) {
  const owner = useSession.getState().user?.id ?? '';
  const { carts } = useCarts.getState();
  const lines = change(carts[owner] ?? NO_LINES);
  useCarts.setState({ carts: { ...carts, [owner]: lines } });
  return lines;
}
