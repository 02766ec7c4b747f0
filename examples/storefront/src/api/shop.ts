import { queryOptions, useQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { toDate } from '../calendar';
import { api, type Shop, type ShopSettings } from './client';
import { queryClient } from './query-client';

/** Time zone until the shop's own one is loaded. It is the default of the service. */
const DEFAULT_TIME_ZONE = 'Asia/Jakarta';

/** Opening hours, and the windows in which a customer can collect an order. */
export const shopInfo = queryOptions<Shop>({
  queryKey: ['shop'],
  queryFn: async ({ signal }) => (await dataOf(api.GET('/api/shop', { signal }))).shop,
  staleTime: 60_000,
});

export function useTimeZone(): string {
  return useQuery(shopInfo).data?.time_zone ?? DEFAULT_TIME_ZONE;
}

/** Today's date in the shop's time zone. */
export function useToday(): string {
  return toDate(new Date(), useTimeZone());
}

export async function saveShop(body: ShopSettings) {
  const { shop } = await dataOf(api.PUT('/api/admin/shop', { body }));
  queryClient.setQueryData(shopInfo.queryKey, shop);
}
