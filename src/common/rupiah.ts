const FORMAT = new Intl.NumberFormat('id-ID', {
  style: 'currency',
  currency: 'IDR',
  maximumFractionDigits: 0,
});

/** An amount in whole rupiah as people read it: `Rp 185.000`. */
export function rupiah(amount: number): string {
  return FORMAT.format(amount);
}
