import type { SoldItem } from './sales.repository.js';

export const CSV_HEADER = 'date,order_id,product_id,name,quantity,price,sum,status\r\n';

/** Matches cells that a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t]/;

/** Builds a line of a CSV file (RFC 4180). */
export function toCsvLine(date: string, item: SoldItem): string {
  const { order_id, product_id, name, quantity, price, sum, status } = item;
  return `${[date, order_id, product_id, name, quantity, price, sum, status].map(toCell).join(',')}\r\n`;
}

function toCell(value: string | number): string {
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
