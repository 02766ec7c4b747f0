import { lazy, Suspense } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { Route, Routes, useLocation } from 'react-router';
import { Bars, Failure } from './components/page';
import { Shell } from './components/shell';
import { CartPage } from './pages/cart';
import { CatalogPage } from './pages/catalog';
import { OrderPage } from './pages/order';
import { OrdersPage } from './pages/orders';
import { ProductPage } from './pages/product';
import { WelcomePage } from './pages/welcome';
import { RequireAdmin, RequireUser } from './routing/guards';
import { useSession } from './state/session';

// Loaded when they are needed, so that the catalog is there sooner.
const AccountPages = lazy(() => import('./pages/account/routes'));
const ManagePages = lazy(() => import('./pages/manage/routes'));

export function App() {
  const personId = useSession(({ person }) => person?.id);
  const { pathname } = useLocation();
  return (
    <Shell>
      <ErrorBoundary FallbackComponent={BrokenPage} resetKeys={[pathname]}>
        <Suspense fallback={<Bars lines={8} />}>
          {/* When another person signs in, every page starts from the beginning. */}
          <Routes key={personId ?? 'visitor'}>
            <Route index element={personId === undefined ? <WelcomePage /> : <CatalogPage />} />
            <Route element={<RequireUser />}>
              <Route path="products/:id" element={<ProductPage />} />
              <Route path="cart" element={<CartPage />} />
              <Route path="orders" element={<OrdersPage />} />
              <Route path="orders/:id" element={<OrderPage />} />
              <Route element={<RequireAdmin />}>
                <Route path="manage/*" element={<ManagePages />} />
              </Route>
            </Route>
            <Route path="*" element={<AccountPages />} />
          </Routes>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** In place of a page that could not be drawn, for example because its script could not be loaded. */
function BrokenPage({ error }: { error: unknown }) {
  return <Failure error={error} onRetry={() => location.reload()} />;
}
