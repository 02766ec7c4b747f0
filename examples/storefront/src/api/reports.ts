import { queryOptions } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { api } from './client';

/** Interval at which a visible day sheet is loaded again. */
const DAY_POLL_MS = 15_000;

/** Paid orders of a day and the products to bake for them. Its key is one of the orders, which a step reloads. */
export function daySheet(date: string) {
  return queryOptions({
    queryKey: ['orders', 'day', date],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/admin/days/{date}', { params: { path: { date } }, signal })),
    refetchInterval: DAY_POLL_MS,
    refetchOnWindowFocus: 'always',
  });
}

/** First and last date of a report. */
export interface Range {
  from: string;
  to: string;
}

export function salesReport(range: Range) {
  return queryOptions({
    queryKey: ['sales', range],
    queryFn: ({ signal }) => dataOf(api.GET('/api/admin/sales', { params: { query: range }, signal })),
    staleTime: 60_000,
  });
}

/** Loads the sales as CSV and offers the file for download. */
export async function downloadSales(range: Range): Promise<void> {
  const { data, error, response } = await api.GET('/api/admin/sales.csv', {
    params: { query: range },
    parseAs: 'blob',
  });
  // `dataOf` throws the failure.
  if (data === undefined) {
    await dataOf(Promise.resolve({ error, response }));
    return;
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = `sales-${range.from}-${range.to}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
