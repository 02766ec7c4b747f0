import type { Shop, ShopSettings } from '../../api/client';
import { LocalizedError } from '../../api/errors';
import { t } from '../../i18n';

export type ClosedRange = Shop['closed_ranges'][number];

/** Values of the form for the settings of the shop. */
export type ShopFormValues = ReturnType<typeof toFormValues>;

export function toFormValues(shop: Shop) {
  const { hours, closed, closed_ranges, time_zone, name, language } = shop;
  return {
    hours,
    closed,
    newClosedDate: '',
    closed_ranges,
    lead_minutes: String(shop.lead_minutes),
    days_ahead: String(shop.days_ahead),
    cut_off: shop.cut_off ?? '',
    orders_per_slot: String(shop.orders_per_slot ?? ''),
    slot_minutes: String(shop.slot_minutes ?? ''),
    time_zone,
    name,
    address: shop.address ?? '',
    phone: shop.phone ?? '',
    whatsapp: shop.whatsapp ?? '',
    website: shop.website ?? '',
    language,
  };
}

/**
 * Returns the settings to save, as the service stores them: after a lost response, they are compared with the stored ones. Completes
 * the times, because Enter sends the form before a time loses the focus. Adds the date that was chosen without pressing "Add date".
 */
export function toSettings({ newClosedDate, ...values }: ShopFormValues): ShopSettings {
  const settings = {
    ...values,
    hours: completeHours(values.hours),
    closed: addDate(values.closed, newClosedDate),
    closed_ranges: completeRanges(values.closed_ranges),
    lead_minutes: toNumber(values.lead_minutes),
    days_ahead: toNumber(values.days_ahead),
    cut_off: completeTime(values.cut_off.trim()) || null,
    orders_per_slot: toNumber(values.orders_per_slot),
    slot_minutes: toNumber(values.slot_minutes),
    name: values.name.trim(),
    address: values.address.trim() || null,
    phone: values.phone.trim() || null,
    whatsapp: values.whatsapp.trim() || null,
    website: values.website.trim() || null,
  };
  // The service rejects a value of a wrong type, with a message at the field.
  return settings as ShopSettings;
}

/** Returns the values that have changed. */
export function pickChanged(before: ShopFormValues, after: ShopFormValues): Partial<ShopFormValues> {
  const names = Object.keys(after) as (keyof ShopFormValues)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}

/** Throws if the orders of a slot are limited, but the slots have no length: the limit would have no effect. */
export function assertLimitIsComplete({ orders_per_slot, slot_minutes }: ShopFormValues): void {
  if (orders_per_slot.trim() === '' || slot_minutes !== '') return;
  throw new LocalizedError(() => t('shop.limitIncomplete'), 'slot_minutes');
}

/** Returns the dates in order, with this date unless it is empty. */
export function addDate(dates: string[], date: string) {
  return date === '' ? dates : [...new Set([...dates, date])].sort();
}

/** Completes a time as people type it: `7`, `7.00` and `0700` become `07:00`. Returns any other text unchanged. */
export function completeTime(text: string) {
  const [, hours, minutes = '00'] = /^\s*(\d{1,2}?)(?:[.:]?(\d{2}))?\s*$/.exec(text) ?? [];
  return hours === undefined ? text : `${hours.padStart(2, '0')}:${minutes}`;
}

/** Returns the ranges in order, without those in which nothing was typed. */
function completeRanges(ranges: ClosedRange[]): ClosedRange[] {
  return ranges
    .map((range) => ({ ...range, reason: (range.reason ?? '').trim() || null }))
    .filter(({ from, to, reason }) => from !== '' || to !== '' || reason !== null)
    .sort((a, b) => a.from.localeCompare(b.from));
}

function completeHours(hours: Shop['hours']) {
  const days = Object.entries(hours).map(([day, windows]) => {
    return [day, windows.map((window) => window.map(completeTime)).sort()];
  });
  return Object.fromEntries(days) as Shop['hours'];
}

/**
 * Converts the text of a number field. Returns null for an empty text. Returns a text with anything but digits unchanged,
 * so that the service rejects it. `Number` would read `1.000` as 1, and JSON would send NaN as null.
 */
function toNumber(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d{1,9}$/.test(trimmed) ? Number(trimmed) : text;
}
