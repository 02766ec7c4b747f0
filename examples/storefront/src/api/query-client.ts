import { QueryClient } from '@tanstack/react-query';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Without a connection a page says so at once. It loads when the connection is back.
      networkMode: 'always',
      refetchOnReconnect: true,
      // A page that failed to load says so and has a button to try again.
      retry: false,
      // Long enough to come back to a list that was left.
      gcTime: 30 * 60_000,
    },
    mutations: { networkMode: 'always' },
  },
});
