import { BakeryFailure, type components, createBakeryClient } from 'bakery-client';
import { sentence } from './format.js';
import { sessionEnded } from './session.js';

export type Product = components['schemas']['ListedProductView'];
export type Order = components['schemas']['OrderView'];
export type OrderStatus = Order['status'];

/** The one way by which this storefront talks to the service. */
export const api = createBakeryClient({
  baseUrl: import.meta.env.VITE_API_URL ?? 'http://localhost:3000',
  onSignedOut: sessionEnded,
});

/** Whether a call failed with this status. */
export function hasCode(error: unknown, code: number): error is BakeryFailure {
  return error instanceof BakeryFailure && error.code === code;
}

/** What to tell a person about a failed call. */
export function explain(error: unknown): string {
  if (error instanceof BakeryFailure) return sentence(error.message);
  return 'We cannot reach the bakery. Check your connection and try again.';
}

/** The page of a list after an id; null is its documented end (404). */
export async function pageOrEnd<T>(page: Promise<T>): Promise<T | null> {
  try {
    return await page;
  } catch (error) {
    if (hasCode(error, 404)) return null;
    throw error;
  }
}
