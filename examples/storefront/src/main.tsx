import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { productDetail, productList } from './api/products';
import { queryClient } from './api/query-client';
import { shopInfo } from './api/shop';
import { App } from './app';
import './routing/history-guard';
import { adoptVisitorCart } from './state/cart';
import { keepOnlyCheckoutDetailsOf } from './state/checkout-details';
import { loadFirstLanguage } from './state/language';
import { getPageUser, useSession } from './state/session';

/** Time for the images of the first page, which share the connection with the preloaded script. */
const PRELOAD_AFTER_MS = 2_000;

// Also runs when somebody signs in or out in another tab. A change of the profile keeps the user's id.
useSession.subscribe((session, previous) => {
  const { user } = session;
  const isSamePerson = getPageUser(session)?.id === getPageUser(previous)?.id;
  // The next person must not see cached responses of the previous one.
  if (!isSamePerson) queryClient.clear();
  // The service has ended the session. An open page of the user keeps its own responses.
  else if (user === null) queryClient.removeQueries({ type: 'inactive' });
  if (user === null || user.id === previous.user?.id) return;
  // The details stay when a session ends: the same person may sign in again.
  keepOnlyCheckoutDetailsOf(user.id);
  if (previous.user === null) adoptVisitorCart();
  // The requests of an open page have failed since the end of the session.
  if (isSamePerson) void queryClient.invalidateQueries();
});

/** Requests the data of the first page while the texts of the storefront are still loading. The page reports failures. */
function startLoading() {
  const { pathname, search } = location;
  const [, id] = /^\/products\/(\d+)$/.exec(pathname) ?? [];
  const text = new URLSearchParams(search).get('q') ?? '';
  const requests: Promise<unknown>[] = [queryClient.query(shopInfo)];
  if (id !== undefined) requests.push(queryClient.query(productDetail(Number(id))));
  if (pathname === '/') requests.push(queryClient.infiniteQuery(productList(text)));
  void Promise.allSettled(requests);
}

/** Loads the script of the product, cart and order pages, so that these pages open at once, even without a connection. */
function preloadShopScript() {
  import('./pages/cart').catch(() => undefined);
}

const root = document.querySelector('#app') ?? document.body;

startLoading();
setTimeout(preloadShopScript, PRELOAD_AFTER_MS);
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
