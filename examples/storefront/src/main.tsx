import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { queryClient } from './api/query-client';
import { App } from './app';
import { useSession } from './state/session';

// What was loaded for one person is not for the next.
useSession.subscribe((now, before) => {
  if (now.person?.id !== before.person?.id) queryClient.clear();
});

const root = document.querySelector('#app');
if (root === null) throw new Error('index.html has no #app');

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <BrowserRouter>
        <App />
      </BrowserRouter>
    </QueryClientProvider>
  </StrictMode>,
);
