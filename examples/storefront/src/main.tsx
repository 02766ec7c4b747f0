import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { productDetail, productList } from './api/products';
import { queryClient } from './api/query-client';
import { shopInfo } from './api/shop';
import { App } from './app';
import { adoptVisitorCart } from './state/cart';
import { keepOnlyCheckoutDetailsOf } from './state/checkout-details';
import { loadFirstLanguage } from './state/language';
import { useSession } from './state/session';

/** Time for the images of the first page, which share the connection with the preloaded script. */
const PRELOAD_AFTER_MS = 2_000;

// Also runs when somebody signs in or out in another tab. A change of the profile keeps the user's id.
useSession.subscribe(({ user }, { user: previous }) => {
  if (user?.id === previous?.id) return;
  // The next person must not see cached responses of the previous one.
  queryClient.clear();
  // The details stay when a session ends: the same person may sign in again.
  if (user !== null) keepOnlyCheckoutDetailsOf(user.id);
  if (previous === null) adoptVisitorCart();
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
