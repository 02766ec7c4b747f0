import { QueryClient, useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { useState } from 'react';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A query fails at once without a connection. Failed queries of the open page are repeated on reconnection.
      networkMode: 'always',
      refetchOnReconnect: true,
      // No automatic retries: every page shows a failure together with a button to try again.
      retry: false,
      // Keeps the data of a page for 30 minutes while the person is on other pages.
      gcTime: 30 * 60_000,
    },
    mutations: { networkMode: 'always' },
  },
});

/**
 * Query for the initial values of a form. Returns no data until a response arrives after the component is mounted, because
 * cached values may be outdated and the form ignores later values.
 */
export function useFreshQuery<Data>(options: UseQueryOptions<Data>) {
  const [openedAt] = useState(() => Date.now());
  const { data, dataUpdatedAt, error, refetch } = useQuery({ ...options, refetchOnMount: 'always' });
  return { data: dataUpdatedAt >= openedAt ? data : undefined, error, refetch };
}
