/** 0 or more, below 10^12, at most two decimals: exactly what `numeric(14, 2)` holds. */
const PRICE = /^\d{1,12}(\.\d{1,2})?$/;

/**
 * Reads a price in rupiah as a form sends it.
 * @returns the decimal in its shortest form, exact; null when the text is no price (decisions.md, Products)
 */
export function parsePrice(text: string): string | null {
  const trimmed = text.trim();
  // Zeros in front say nothing and must not use up the digits.
  const decimal = trimmed.replace(/^0+(?=\d)/, '');
  return trimmed.length <= 64 && PRICE.test(decimal) ? decimal : null;
}

/** A price rounded half up to whole rupiah, which is what the payment gateway takes; exact. */
export function wholeRupiah(price: string): number {
  const [whole = '0', decimals = ''] = price.split('.');
  return Number(whole) + (decimals >= '5' ? 1 : 0);
}
