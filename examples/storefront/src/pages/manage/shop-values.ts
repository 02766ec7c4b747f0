import type { AdminShop, ShopSettings } from '../../api/client';
import { t } from '../../i18n';
import { completeTime } from './hours-field';

/** Text settings that may be empty. An empty text is sent as null. */
const OPTIONAL_TEXTS = ['cut_off', 'address', 'phone', 'whatsapp', 'website'] as const;
const NUMBERS = ['lead_minutes', 'days_ahead', 'orders_per_slot', 'slot_minutes'] as const;

export function toFormValues(shop: AdminShop) {
  const { hours, closed, closed_ranges, time_zone, name, language } = shop;
  const fields = [...OPTIONAL_TEXTS, ...NUMBERS];
  type Texts = Record<(typeof fields)[number], string>;
  const texts = Object.fromEntries(fields.map((field) => [field, String(shop[field] ?? '')])) as Texts;
  return { hours, closed, newClosedDate: '', closed_ranges, time_zone, name, language, ...texts };
}

export type ShopFormValues = ReturnType<typeof toFormValues>;

export function toSettings({ newClosedDate: _, ...values }: ShopFormValues): ShopSettings {
  const settings: Record<string, unknown> = { ...values };
  for (const field of NUMBERS) settings[field] = toNumber(values[field]);
  for (const field of OPTIONAL_TEXTS) settings[field] = values[field].trim() || null;
  settings.cut_off = completeTime(values.cut_off.trim()) || null;
  // The service rejects a value of a wrong type, with a message at the field.
  return settings as ShopSettings;
}

/** Lists the changed settings by label. Adds the new value of a text or number; lists and null have only the label. */
export function listChanges(before: AdminShop, after: AdminShop): string[] {
  const labels = {
    hours: t('hours.title'),
    closed: t('closed.label'),
    closed_ranges: t('ranges.label'),
    lead_minutes: t('hours.lead'),
    days_ahead: t('hours.daysAhead'),
    cut_off: t('shop.cutOff'),
    orders_per_slot: t('shop.perSlot'),
    slot_minutes: t('shop.slotMinutes'),
    time_zone: t('hours.timeZone'),
    name: t('shop.name'),
    address: t('shop.address'),
    phone: t('order.phone'),
    whatsapp: t('shop.whatsapp'),
    website: t('shop.website'),
    language: t('shop.language'),
    paused_until: t('pause.label'),
  };
  const names = Object.keys(labels) as (keyof typeof labels)[];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => (typeof after[name] === 'object' ? labels[name] : `${labels[name]}: ${after[name]}`));
}

/**
 * Converts the text of a number field. Returns null for an empty text. Returns a text with anything but digits unchanged,
 * so that the service rejects it. `Number` would read `1.000` as 1, and JSON would send NaN as null.
 */
function toNumber(text: string): number | string | null {
  const digits = text.trim();
  if (digits === '') return null;
  return /^\d{1,9}$/.test(digits) ? Number(digits) : text;
}
