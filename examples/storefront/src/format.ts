const rupiah = new Intl.NumberFormat('id-ID', {
  style: 'currency',
  currency: 'IDR',
  minimumFractionDigits: 0,
  maximumFractionDigits: 2,
});
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** `Rp 185.000` */
export function price(amount: number): string {
  return rupiah.format(amount);
}

/** An ISO 8601 time as people write it, in the reader's time zone. */
export function time(iso: string): string {
  return moment.format(new Date(iso));
}

/** `1 product`, `2 products` */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The service's messages begin in lower case. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
