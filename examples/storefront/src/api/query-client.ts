import { QueryClient } from '@tanstack/react-query';

/** For data that rarely changes: pages that are opened within this time share one response. */
export const SHORT_STALE_MS = 60_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A query fails at once without a connection. On reconnection, the open page repeats its stale queries.
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
