import { queryOptions } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api } from './client';
import { getListPollGap, ORDERS_KEY } from './orders';
import { SHORT_STALE_MS } from './query-client';

/**
 * Paid orders of a day that are not refused, and the number of pieces of each product in these orders. Today's sheet also
 * contains the overdue orders of earlier days.
 */
export function daySheet(date: string) {
  return queryOptions({
    queryKey: [...ORDERS_KEY, 'day', date],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/admin/days/{date}', { params: { path: { date } }, signal })),
    refetchInterval: getListPollGap,
    refetchOnWindowFocus: 'always',
  });
}

/** Time that a browser may take to start a download. Safari reads the file only after the click. */
const DOWNLOAD_START_MS = 60_000;

/** First and last date of a report. */
export type DateRange = Record<'from' | 'to', string>;

export function salesReport(range: DateRange) {
  return queryOptions({
    queryKey: ['sales', range],
    queryFn: ({ signal }) => dataOf(api.GET('/api/admin/sales', { params: { query: range }, signal })),
    staleTime: SHORT_STALE_MS,
  });
}

/** Downloads the sales of a date range as CSV. `excel` selects the format that Excel opens in Indonesia. */
export async function downloadSales(range: DateRange, format?: 'excel'): Promise<void> {
  const query = { ...range, ...(format && { format }) };
  const csv = await dataOf(api.GET('/api/admin/sales.csv', { params: { query }, parseAs: 'blob' }));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(csv);
  link.download = `sales-${range.from}-${range.to}${format ? `-${format}` : ''}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_START_MS);
}
