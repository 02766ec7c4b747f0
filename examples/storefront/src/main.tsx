import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { productDetail, productList } from './api/products';
import { queryClient } from './api/query-client';
import { shopInfo } from './api/shop';
import { App } from './app';
// Removes the phone number and the note of a person who leaves, also if the page of the cart was never loaded.
import './state/checkout';
import { useSession } from './state/session';
import { loadFirstLanguage } from './state/language';

// The next person must not see cached responses of the previous one.
useSession.subscribe((now, before) => {
  if (now.user?.id !== before.user?.id) queryClient.clear();
});

/** Requests what the first page shows while its texts are still loading. The page reports failures. */
function startLoading() {
  const { pathname, search } = location;
  const [, id] = /^\/products\/(\d+)$/.exec(pathname) ?? [];
  const text = new URLSearchParams(search).get('q') ?? '';
  const requests: Promise<unknown>[] = [queryClient.query(shopInfo)];
  if (id !== undefined) requests.push(queryClient.query(productDetail(Number(id))));
  if (pathname === '/') requests.push(queryClient.infiniteQuery(productList(text)));
  void Promise.allSettled(requests);
}

const root = document.querySelector('#app') ?? document.body;

startLoading();
loadFirstLanguage().then(
  () =>
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          {/* With transitions, the previous page would stay until the script of the next page is loaded. */}
          <BrowserRouter useTransitions={false}>
            <App />
          </BrowserRouter>
        </QueryClientProvider>
      </StrictMode>,
    ),
  // Without texts, nothing else can be shown.
  () => root.append('Silakan muat ulang halaman ini. Please reload this page.'),
);
