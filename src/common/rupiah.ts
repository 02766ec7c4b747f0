const FORMAT = new Intl.NumberFormat('id-ID', {
  style: 'currency',
  currency: 'IDR',
  maximumFractionDigits: 0,
});

/** Formats an amount in whole rupiah: `Rp 185.000`. */
export function formatRupiah(amount: number): string {
  return FORMAT.format(amount);
}
