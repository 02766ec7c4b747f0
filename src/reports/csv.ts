import type { SoldItem } from './sales.repository.js';

const COLUMNS = ['date', 'order_id', 'product_id', 'name', 'quantity', 'price', 'sum', 'status'] as const;

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** Matches cells that a spreadsheet would run as a formula. An apostrophe in front makes them text. */
const FORMULA = /^[=+\-@\t]/;

/** Builds a line of a CSV file (RFC 4180). */
export function toCsvLine(item: SoldItem): string {
  return `${COLUMNS.map((column) => toCell(item[column])).join(',')}\r\n`;
}

function toCell(value: string | number): string {
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
