import type { Schemas, ShopSettings } from '../../api/client';
import { t } from '../../i18n';

type Shop = Schemas['AdminShopView'];
/** Text settings that may be empty. An empty text is sent as null. */
const OPTIONAL_TEXTS = ['cut_off', 'address', 'phone', 'whatsapp', 'website'] as const;

export function toFormValues(shop: Shop) {
  const { hours, closed, closed_ranges, time_zone, name, language } = shop;
  return {
    hours,
    closed,
    newClosedDate: '',
    closed_ranges,
    time_zone,
    name,
    language: language as string,
    lead_minutes: String(shop.lead_minutes),
    days_ahead: String(shop.days_ahead),
    orders_per_slot: String(shop.orders_per_slot ?? ''),
    slot_minutes: String(shop.slot_minutes ?? ''),
    cut_off: shop.cut_off ?? '',
    address: shop.address ?? '',
    phone: shop.phone ?? '',
    whatsapp: shop.whatsapp ?? '',
    website: shop.website ?? '',
  };
}

export type ShopFormValues = ReturnType<typeof toFormValues>;

export function toSettings({ newClosedDate: _, ...values }: ShopFormValues): ShopSettings {
  const texts = Object.fromEntries(OPTIONAL_TEXTS.map((name) => [name, values[name].trim() || null]));
  return {
    ...values,
    ...texts,
    // The service rejects any other language and any other number of minutes, with a message at the field.
    language: values.language as Shop['language'],
    lead_minutes: toNumber(values.lead_minutes),
    days_ahead: toNumber(values.days_ahead),
    orders_per_slot: toOptionalNumber(values.orders_per_slot),
    slot_minutes: toOptionalNumber(values.slot_minutes) as Shop['slot_minutes'],
  };
}

/** Lists what somebody else has changed, with the new value of short settings. */
export function listChanges(before: Shop, after: Shop): string[] {
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

/** Converts the text of a number field. An empty text becomes NaN, which JSON sends as null, so the service rejects it. */
function toNumber(text: string) {
  return toOptionalNumber(text) ?? NaN;
}

function toOptionalNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
