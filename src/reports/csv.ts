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
/** Item of a paid order. `refunded` is the refunded amount of the order on its first item, and 0 on its other items. */
export type SoldItem = Readonly<Record<(typeof COLUMNS)[number], string | number>>;

/** Without it, Excel does not read a file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Matches cells that a spreadsheet would run as a formula, also if it splits at `;`. An apostrophe in front makes them text. */
const FORMULA = /(^|;)\s*[=+\-@\t\r]/;

/** Returns the header and the builder of lines (RFC 4180). Excel in Indonesia expects semicolons between the cells. */
export function csvFormat(format?: 'excel') {
  const [start, separator] = format === 'excel' ? [BYTE_ORDER_MARK, ';'] : ['', ','];
  const join = (cells: readonly (string | number)[]): string => `${cells.map(toCell).join(separator)}\r\n`;
  return {
    header: start + join(COLUMNS),
    toLine: (item: SoldItem): string => join(COLUMNS.map((column) => item[column])),
  };
}

function toCell(value: string | number): string {
  const text = String(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
