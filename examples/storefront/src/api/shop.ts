import { queryOptions, useQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api, type Shop, type ShopSettings, toIfMatchHeader, withEtag } from './client';
import { queryClient, SHORT_STALE_MS } from './query-client';

/** Query for the settings and the pickup windows of the shop. */
export const shopInfo = queryOptions<Shop>({
  queryKey: ['shop'],
  queryFn: async ({ signal }) => (await dataOf(api.GET('/api/shop', { signal }))).shop,
  staleTime: SHORT_STALE_MS,
});

/** Defaults of the service, which the storefront shows until the settings of the shop are loaded. */
const DEFAULT_NAME = 'Roti Pagi';
const DEFAULT_TIME_ZONE = 'Asia/Jakarta';

export function useShopName(): string {
  return useQuery(shopInfo).data?.name ?? DEFAULT_NAME;
}

export function getTimeZone(): string {
  return queryClient.getQueryData(shopInfo.queryKey)?.time_zone ?? DEFAULT_TIME_ZONE;
}

/** Returns the time zone of the shop, and renders the component again when it has been loaded or changed. */
export function useTimeZone(): string {
  return useQuery(shopInfo).data?.time_zone ?? DEFAULT_TIME_ZONE;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Returns true for a closed date, a date in a closed range, and a weekday without opening hours. */
export function isClosedOn(
  { hours, closed, closed_ranges }: Pick<Shop, 'hours' | 'closed' | 'closed_ranges'>,
  date: string,
): boolean {
  const weekday = WEEKDAYS.at(new Date(date).getUTCDay() - 1); // Sunday is day 0, so its index is -1.
  const isWeekdayClosed = weekday === undefined || hours[weekday].length === 0;
  const isInRange = closed_ranges.some(({ from, to }) => from <= date && date <= to);
  return isWeekdayClosed || isInRange || closed.includes(date);
}

/** Returns the end of the current pause, or null if the shop is not paused. */
export function getPauseEnd({ paused_until }: Shop): string | null {
  return paused_until !== null && Date.parse(paused_until) > Date.now() ? paused_until : null;
}

/** Settings of the shop, with the ETag that a change of these settings sends. */
export interface LoadedSettings {
  shop: Shop;
  etag: string | null;
}

export const shopSettings = queryOptions<LoadedSettings>({
  queryKey: ['shop', 'settings'],
  gcTime: 0, // A form starts with current values, not with cached ones.
  queryFn: async ({ signal }) => {
    const { data, etag } = await withEtag(api.GET('/api/admin/shop', { signal }));
    return { shop: data.shop, etag };
  },
});

/**
 * Saves the settings, unless somebody has changed them since they were loaded with this ETag. Then reloads what the pages show
 * of the shop.
 * @returns the saved settings, also if the reload fails
 */
export async function saveShop(body: ShopSettings, loadedEtag: string | null): Promise<LoadedSettings> {
  const params = { header: toIfMatchHeader(loadedEtag) };
  const { data, etag } = await withEtag(api.PUT('/api/admin/shop', { params, body }));
  await queryClient.invalidateQueries({ queryKey: shopInfo.queryKey });
  return { shop: data.shop, etag };
}

/** Stops new orders until `paused_until`. With null, the shop accepts orders again. */
export async function pauseShop(paused_until: string | null) {
  const { shop, etag } = await queryClient.query({ ...shopSettings, staleTime: 0 });
  // The required settings. The service keeps the optional ones that a request omits.
  const { time_zone, hours, closed, lead_minutes, days_ahead } = shop;
  await saveShop({ time_zone, hours, closed, lead_minutes, days_ahead, paused_until }, etag);
}
