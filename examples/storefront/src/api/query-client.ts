import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Fail at once without a connection, and load when the connection is back.
      networkMode: 'always',
      refetchOnReconnect: true,
      // Every page shows a failure together with a button to try again.
      retry: false,
      // A list is still cached when the person returns to it.
      gcTime: 30 * 60_000,
    },
    mutations: { networkMode: 'always' },
  },
});
