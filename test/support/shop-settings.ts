import type { components } from '../../client/schema.js';
import type { OpeningHours, OpeningWindow } from '../../src/shop/shop.entity.js';
import type { Client } from './client.js';

export type ShopSettings = Omit<components['schemas']['ShopDto'], 'hours'> & { readonly hours: OpeningHours };

export function everyDay(...windows: OpeningWindow[]): OpeningHours {
  return { mon: windows, tue: windows, wed: windows, thu: windows, fri: windows, sat: windows, sun: windows };
}

/** Settings that apply until an administrator sets up the shop. */
export const DEFAULT_SHOP: ShopSettings = {
  time_zone: 'Asia/Jakarta',
  hours: everyDay(['07:00', '18:00']),
  closed: [],
  lead_minutes: 120,
  days_ahead: 14,
};

/** Defaults of the optional settings. A PUT that omits an optional setting keeps its value. */
export const OPTIONAL_DEFAULTS = {
  name: 'Roti Pagi',
  address: null,
  phone: null,
  whatsapp: null,
  website: null,
  language: 'en',
  closed_ranges: [],
  cut_off: null,
  slot_minutes: null,
  orders_per_slot: null,
  paused_until: null,
} as const satisfies Partial<ShopSettings>;

/** Settings of a shop that is always open, so that pickup is possible at once. */
export const ALWAYS_OPEN: ShopSettings = {
  ...DEFAULT_SHOP,
  hours: everyDay(['00:00', '24:00']),
  lead_minutes: 0,
};

/** Replaces all settings of the shop by `ALWAYS_OPEN` and the optional defaults, with these changes. */
export async function setUpShop(admin: Client, changes: Partial<ShopSettings> = {}): Promise<void> {
  await admin
    .put('/api/admin/shop')
    .send({ ...ALWAYS_OPEN, ...OPTIONAL_DEFAULTS, ...changes })
    .expect(200);
}
