const MAX_ID = 2_147_483_647;

/** Returns true for a possible id. PostgreSQL rejects a parameter above MAX_ID with an error. */
export function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_ID;
}

export const LAST_ID_NOT_A_NUMBER = 'last_id should be a number';

/** Parses the id after which a page begins: rounded down, at least 0, at most MAX_ID; null if the text is not a number. */
export function parseLastId(text: unknown): number | null {
  if (typeof text !== 'string' || !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim())) return null;
  return Math.floor(Math.min(Math.max(Number(text), 0), MAX_ID));
}
