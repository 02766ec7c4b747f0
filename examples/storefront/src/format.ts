const CURRENCY = { style: 'currency', currency: 'IDR' } as const;
const wholeRupiah = new Intl.NumberFormat('id-ID', { ...CURRENCY, maximumFractionDigits: 0 });
const rupiahAndCents = new Intl.NumberFormat('id-ID', { ...CURRENCY, minimumFractionDigits: 2 });

/** Formats a price with no cents or two digits of cents. Older browsers lack `trailingZeroDisplay`, which would do this. */
export function formatPrice(amount: number): string {
  return (Number.isInteger(amount) ? wholeRupiah : rupiahAndCents).format(amount);
}

/**
 * Converts a price as people in Indonesia type it into a plain decimal: `Rp 25.000,-` becomes `25000`, `12,50` becomes
 * `12.50`. An empty text stays empty. Returns null for any other text, such as `25.00`, `25k` or `25 000`.
 */
export function parsePrice(text: string): string | null {
  const typed = text.trim();
  if (typed === '') return '';
  const [, whole, cents] =
    /^(?:rp\.?\s*)?(\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,-|,(\d{1,2}))?$/i.exec(typed) ?? [];
  if (whole === undefined) return null;
  return whole.replaceAll('.', '') + (cents === undefined ? '' : `.${cents}`);
}

/** Shortens an order's id to the order number that people see: `5F0C2A3E`. */
export function formatOrderNumber(id: string): string {
  return id.slice(0, 8).toUpperCase();
}

export function toPhoneLink(phone: string): string {
  return `tel:${phone.replaceAll(/[^\d+]/g, '')}`;
}

/** Builds a link to an email address. Its @ stays as it is, because RFC 6068 allows no encoded @ between the parts. */
export function toMailLink(email: string): string {
  return `mailto:${encodeURIComponent(email).replace('%40', '@')}`;
}

/** Converts a message to a sentence: `email is required` becomes `Email is required.` */
export function toSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
