import { lazy, Suspense } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { Route, Routes, useLocation } from 'react-router';
import { Bars, Failure } from './components/page';
import { Shell } from './components/shell';
import { CartPage } from './pages/cart';
import { CatalogPage } from './pages/catalog';
import { ForgotPage } from './pages/forgot';
import { LoginPage } from './pages/login';
import { LostPage } from './pages/lost';
import { OrderPage } from './pages/order';
import { OrdersPage } from './pages/orders';
import { ProductPage } from './pages/product';
import { ProfilePage } from './pages/profile';
import { RegisterPage } from './pages/register';
import { VerifyPage } from './pages/verify';
import { WelcomePage } from './pages/welcome';
import { GuestsOnly, RequireAdmin, RequireUser } from './routing/guards';
import { useSession } from './state/session';

// Customers never load these.
const ManagePages = lazy(() => import('./pages/manage/routes'));

export function App() {
  const personId = useSession(({ person }) => person?.id);
  const { pathname } = useLocation();
  return (
    <Shell>
      <ErrorBoundary FallbackComponent={BrokenPage} resetKeys={[pathname]}>
        <Suspense fallback={<Bars lines={8} />}>
          {/* With another person every page begins anew. */}
          <Routes key={personId ?? 'visitor'}>
            <Route index element={personId === undefined ? <WelcomePage /> : <CatalogPage />} />
            <Route element={<GuestsOnly />}>
              <Route path="login" element={<LoginPage />} />
              <Route path="register" element={<RegisterPage />} />
              <Route path="forgot" element={<ForgotPage />} />
            </Route>
            <Route element={<RequireUser />}>
              <Route path="products/:id" element={<ProductPage />} />
              <Route path="cart" element={<CartPage />} />
              <Route path="orders" element={<OrdersPage />} />
              <Route path="orders/:id" element={<OrderPage />} />
              <Route path="profile" element={<ProfilePage />} />
              <Route path="verify" element={<VerifyPage />} />
              <Route element={<RequireAdmin />}>
                <Route path="manage/*" element={<ManagePages />} />
              </Route>
            </Route>
            <Route path="*" element={<LostPage />} />
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
