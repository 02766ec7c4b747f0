import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A query fails at once without a connection, and loads when the connection is back.
      networkMode: 'always',
      refetchOnReconnect: true,
      // No automatic retries: every page shows a failure together with a button to try again.
      retry: false,
      // Keeps a list while the person is on other pages.
      gcTime: 30 * 60_000,
    },
    mutations: { networkMode: 'always' },
  },
});
