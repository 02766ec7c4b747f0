import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { queryClient } from './api/query-client';
import { App } from './app';
import { useSession } from './state/session';

// The next person must not see cached responses of the previous one.
useSession.subscribe((now, before) => {
  if (now.person?.id !== before.person?.id) queryClient.clear();
});

createRoot(document.querySelector('#app') ?? document.body).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      {/* With transitions, the previous page would stay until the script of the next page is loaded. */}
      <BrowserRouter useTransitions={false}>
        <App />
      </BrowserRouter>
    </QueryClientProvider>
  </StrictMode>,
);
