const FORMAT = new Intl.NumberFormat('id-ID', {
  style: 'currency',
  currency: 'IDR',
  maximumFractionDigits: 0,
});

/** Formats an amount in whole rupiah: `Rp 185.000`. */
export function formatRupiah(amount: number): string {
  return FORMAT.format(amount);
}

/** Returns the whole rupiah of a plain decimal, such as `185000.00`; null for leading zeros, a fraction or any other value. */
export function parseRupiah(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^(0|[1-9]\d*)(\.0+)?$/.test(text)) return null;
  const amount = Number(text);
  return Number.isSafeInteger(amount) ? amount : null;
}
