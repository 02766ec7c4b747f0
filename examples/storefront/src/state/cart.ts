import type { Product } from '../api/client';
import { useSession } from './session';
import { sharedStore } from './shared-store';

/** A product in the cart, as it was when it was put there. The price is in rupiah. */
export interface CartLine extends Pick<Product, 'id' | 'name' | 'price' | 'images'> {
  quantity: number;
}

export const MAX_QUANTITY = 999;

const NO_LINES: CartLine[] = [];

/** Carts by the id of their owner. */
const useCarts = sharedStore<{ carts: Record<string, CartLine[]> }>('bakery.cart', { carts: {} });

/** What is in the cart of the person who is signed in. */
export function useCart() {
  const owner = useSession(({ person }) => person?.id ?? '');
  return useCarts(({ carts }) => carts[owner] ?? NO_LINES);
}

export function piecesIn(lines: CartLine[]) {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Puts pieces of a product into the cart, besides those that are there. */
export function addToCart({ id, name, price, images }: Product, quantity: number) {
  return changeCart((lines) => {
    const held = lines.find((line) => line.id === id)?.quantity ?? 0;
    const added = { id, name, price, images, quantity: Math.min(held + quantity, MAX_QUANTITY) };
    return held === 0 ? [...lines, added] : lines.map((line) => (line.id === id ? added : line));
  });
}

export function setQuantity(id: number, quantity: number) {
  changeCart((lines) => lines.map((line) => (line.id === id ? { ...line, quantity } : line)));
}

export function removeFromCart(id: number) {
  changeCart((lines) => lines.filter((line) => line.id !== id));
}

export function clearCart() {
  changeCart(() => NO_LINES);
}

/** @returns the changed cart */
function changeCart(change: (lines: CartLine[]) => CartLine[]) {
  const owner = useSession.getState().person?.id ?? '';
  const { carts } = useCarts.getState();
  const lines = change(carts[owner] ?? NO_LINES);
  useCarts.setState({ carts: { ...carts, [owner]: lines } });
  return lines;
}
