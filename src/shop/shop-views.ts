import { toEtag } from '../common/http/if-match.js';
import { normalizeHours } from './opening-hours.decorator.js';
import { normalizeRanges } from './shop-details.dto.js';
import type { Shop } from './shop.entity.js';

/** Builds the settings in a fixed order of keys, which `jsonb` does not keep, so that equal settings have the same ETag. */
export function toSettingsView(shop: Readonly<Shop>) {
  const { name, address, phone, whatsapp, website, language, closed } = shop;
  return {
    name,
    address,
    phone,
    whatsapp,
    website,
    language,
    time_zone: shop.timeZone,
    hours: normalizeHours(shop.hours),
    closed,
    closed_ranges: normalizeRanges(shop.closedRanges),
    lead_minutes: shop.leadMinutes,
    days_ahead: shop.daysAhead,
    cut_off: shop.cutOff,
    slot_minutes: shop.slotMinutes,
    orders_per_slot: shop.ordersPerSlot,
    paused_until: shop.pausedUntil?.toISOString() ?? null,
  };
}

/** ETag of the settings alone, without the pickup windows, which change with time. */
export function shopEtag(shop: Readonly<Shop>): string {
  return toEtag(toSettingsView(shop));
}
