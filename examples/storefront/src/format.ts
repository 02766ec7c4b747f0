const FRACTION = { minimumFractionDigits: 0, maximumFractionDigits: 2 };
const rupiah = new Intl.NumberFormat('id-ID', { style: 'currency', currency: 'IDR', ...FRACTION });
const dateAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export function formatPrice(amount: number): string {
  return rupiah.format(amount);
}

/**
 * Converts a price as people in Indonesia type it into a plain decimal: `Rp 25.000` becomes `25000`, `12,50` becomes
 * `12.50`. Removes only outer spaces and a leading `Rp` from any other text, and the service validates the rest.
 */
export function parsePrice(text: string): string {
  const amount = text.trim().replace(/^rp\.?\s*/i, '');
  const hasThousandsDots = /^\d{1,3}(\.\d{3})+(,\d{1,2})?$/.test(amount);
  const hasDecimalComma = /^\d+,\d{1,2}$/.test(amount);
  if (!hasThousandsDots && !hasDecimalComma) return amount;
  return amount.replaceAll('.', '').replace(',', '.');
}

/** Formats an ISO 8601 time in the time zone of the browser: `24 Nov 2026, 14:30` */
export function formatDateAndTime(iso: string): string {
  return dateAndTime.format(new Date(iso));
}

/** Shortens an order's id to the order number that people see: `5F0C2A3E` */
export function formatOrderNumber(id: string): string {
  return id.slice(0, 8).toUpperCase();
}

/** Formats a number of things: `1 product`, `2 products` */
export function formatCount(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

/** Makes a sentence of a message: `email is required` becomes `Email is required.` */
export function toSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
