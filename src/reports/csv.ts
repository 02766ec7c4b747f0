const COLUMNS = [
  'date',
  'order_id',
  'product_id',
  'name',
  'quantity',
  'price',
  'sum',
  'status',
  'refunded',
] as const;

/** Line of an item of a paid order. `refunded` is the refunded amount of the order on its first line, and 0 on its other lines. */
export type SalesLine = Readonly<Record<(typeof COLUMNS)[number], string | number>>;

/** Makes Excel read a file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Matches cells with a formula at the start or after a `;`. Quotes and spaces may stand before the formula. An apostrophe in front
 * makes a cell text. In a program that splits quoted cells at `;`, the apostrophe protects only the first part.
 */
const FORMULA = /(^|;)["\s]*[=+\-@\t\r]/;

/** Returns the header of a file, and a function that formats a line (RFC 4180). */
export function getCsvFormat(format?: 'excel') {
  // Excel in Indonesia expects semicolons between the cells.
  const separator = format === 'excel' ? ';' : ',';
  const join = (cells: readonly (string | number)[]): string => `${cells.map(toCell).join(separator)}\r\n`;
  return {
    header: (format === 'excel' ? BYTE_ORDER_MARK : '') + join(COLUMNS),
    formatLine: (line: SalesLine): string => join(COLUMNS.map((column) => line[column])),
  };
}

function toCell(value: string | number): string {
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
