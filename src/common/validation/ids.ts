export const MAX_ID = 2_147_483_647;

/** Returns true for a possible id. PostgreSQL rejects a parameter above MAX_ID with an error. */
export function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_ID;
}
