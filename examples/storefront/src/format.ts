const FRACTION = { minimumFractionDigits: 0, maximumFractionDigits: 2 };
const rupiah = new Intl.NumberFormat('id-ID', { style: 'currency', currency: 'IDR', ...FRACTION });
const dateAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** `Rp 185.000` */
export function formatPrice(amount: number): string {
  return rupiah.format(amount);
}

/** An ISO 8601 time as people write it, in the reader's time zone. */
export function formatTime(iso: string): string {
  return dateAndTime.format(new Date(iso));
}

/** `1 product`, `2 products` */
export function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`;
}

/** `email is required` → `Email is required.` */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
