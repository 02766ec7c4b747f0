import { failures } from './errors.js';

/** Largest id of an `integer` column. */
const MAX_ID = 2_147_483_647;

/** Whether a row can have this id. PostgreSQL refuses to compare an id with a larger number. */
export function isId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_ID;
}

/** The id of a row in a path. @throws Failure 404 for what no row can have, so that no query is needed */
export function idOf(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text) || !isId(Number(text))) throw failures.notFound();
  return Number(text);
}

/** The id that a page comes after, from a query, brought back to the nearest bound; null when it is no number. */
export function parseLastId(text: unknown): number | null {
  if (typeof text !== 'string' || !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim())) return null;
  return Math.floor(Math.min(Math.max(Number(text), 0), MAX_ID));
}
