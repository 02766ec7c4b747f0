import { queryOptions, useQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { useSyncExternalStore } from 'react';
import { toLocalDate } from '../calendar';
import { api, type Shop, type ShopSettings } from './client';
import { queryClient } from './query-client';

const MINUTE_MS = 60_000;

/** Default time zone of the service, used until the settings of the shop are loaded. */
const DEFAULT_TIME_ZONE = 'Asia/Jakarta';

/** Query for the settings and the pickup windows of the shop. */
export const shopInfo = queryOptions<Shop>({
  queryKey: ['shop'],
  queryFn: async ({ signal }) => (await dataOf(api.GET('/api/shop', { signal }))).shop,
  staleTime: 60_000,
});

export function useTimeZone(): string {
  return useQuery(shopInfo).data?.time_zone ?? DEFAULT_TIME_ZONE;
}

/** Returns the current date in the shop's time zone. An open page is rendered again after midnight. */
export function useToday(): string {
  const timeZone = useTimeZone();
  return useSyncExternalStore(subscribeToClock, () => toLocalDate(new Date(), timeZone));
}

function subscribeToClock(listener: () => void) {
  const timer = setInterval(listener, MINUTE_MS);
  return () => clearInterval(timer);
}

export async function saveShop(body: ShopSettings) {
  const { shop } = await dataOf(api.PUT('/api/admin/shop', { body }));
  queryClient.setQueryData(shopInfo.queryKey, shop);
}
