import type { Client } from './client.js';

/** Settings of the shop as a request sends them and a response shows them. */
export interface ShopSettings {
  readonly time_zone: string;
  readonly hours: Readonly<Record<string, readonly (readonly [string, string])[]>>;
  readonly closed: readonly string[];
  readonly lead_minutes: number;
  readonly days_ahead: number;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Returns the same opening hours for all days of the week. */
export function everyDay(...windows: (readonly [string, string])[]): ShopSettings['hours'] {
  return Object.fromEntries(WEEKDAYS.map((day) => [day, windows]));
}

/** Default settings of a shop. */
export const DEFAULT_SHOP: ShopSettings = {
  time_zone: 'Asia/Jakarta',
  hours: everyDay(['07:00', '18:00']),
  closed: [],
  lead_minutes: 120,
  days_ahead: 14,
};

/** Settings of a shop that is always open, so that pickup is possible at once. */
export const ALWAYS_OPEN: ShopSettings = {
  ...DEFAULT_SHOP,
  hours: everyDay(['00:00', '24:00']),
  lead_minutes: 0,
};

/** Sets the shop to `ALWAYS_OPEN` with these changes. */
export async function changeShop(admin: Client, changes: Partial<ShopSettings>): Promise<void> {
  await admin
    .put('/api/admin/shop')
    .send({ ...ALWAYS_OPEN, ...changes })
    .expect(200);
}
