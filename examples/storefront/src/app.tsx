import { onlineManager } from '@tanstack/react-query';
import { lazy, Suspense, useEffect } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { Navigate, Route, Routes, useLocation } from 'react-router';
import { useTimeZone } from './api/shop';
import { Skeleton } from './components/loaded';
import { Failure } from './components/notice';
import { Shell } from './components/shell';
import { useLanguage } from './i18n';
import { CatalogPage } from './pages/catalog';
import { NotFoundPage } from './pages/not-found';
import { WelcomePage } from './pages/welcome';
import {
  RedirectToSignIn,
  RequireAdmin,
  RequireCatalogAccess,
  RequireUser,
  RequireVisitor,
} from './routing/guards';
import { getPageUser, useSession } from './state/session';

// Loaded on demand, to keep the script of the catalog small.
const CartPage = lazy(() => import('./pages/cart'));
const OrderPage = lazy(() => import('./pages/order'));
const OrdersPage = lazy(() => import('./pages/orders'));
const ProductPage = lazy(() => import('./pages/product'));
const ForgotPage = lazy(() => import('./pages/account/forgot'));
const LoginPage = lazy(() => import('./pages/account/login'));
const ProfilePage = lazy(() => import('./pages/account/profile'));
const RegisterPage = lazy(() => import('./pages/account/register'));
const VerifyPage = lazy(() => import('./pages/account/verify'));
const ManageOrderPage = lazy(() => import('./pages/manage/order'));
const ManageOrdersPage = lazy(() => import('./pages/manage/orders'));
const ManageProductsPage = lazy(() => import('./pages/manage/products'));
const ManageProductPage = lazy(() => import('./pages/manage/product'));
const SalesPage = lazy(() => import('./pages/manage/sales'));
const ShopPage = lazy(() => import('./pages/manage/shop'));
const TodayPage = lazy(() => import('./pages/manage/today'));

export function App() {
  const userId = useSession((session) => getPageUser(session)?.id);
  const { pathname } = useLocation();
  // Renders all pages again in the other language or time zone. They keep their state.
  useLanguage();
  useTimeZone();
  return (
    <Shell>
      {/* Rendering fails, for example, if the script of a page cannot be loaded. */}
      <ErrorBoundary FallbackComponent={BrokenPage} resetKeys={[pathname]}>
        <Suspense fallback={<Skeleton />}>
          {/* The key resets the state of all pages when a person signs in or out. */}
          <Routes key={userId ?? 'visitor'}>
            {/* Visitors see the fallback, unless the catalog is public. */}
            <Route element={<RequireCatalogAccess fallback={<WelcomePage />} />}>
              <Route index element={<CatalogPage />} />
            </Route>
            <Route element={<RequireCatalogAccess fallback={<RedirectToSignIn />} />}>
              <Route path="products/:id" element={<ProductPage />} />
              <Route path="cart" element={<CartPage />} />
            </Route>
            <Route element={<RequireVisitor />}>
              <Route path="login" element={<LoginPage />} />
              <Route path="register" element={<RegisterPage />} />
              <Route path="forgot" element={<ForgotPage />} />
            </Route>
            <Route element={<RequireUser />}>
              <Route path="orders" element={<OrdersPage />} />
              <Route path="orders/:id" element={<OrderPage />} />
              <Route path="profile" element={<ProfilePage />} />
              <Route path="verify" element={<VerifyPage />} />
              <Route path="manage" element={<RequireAdmin />}>
                <Route index element={<Navigate to="today" replace />} />
                <Route path="products" element={<ManageProductsPage />} />
                <Route path="products/new" element={<ManageProductPage />} />
                <Route path="products/:id" element={<ManageProductPage />} />
                <Route path="orders" element={<ManageOrdersPage />} />
                <Route path="orders/:id" element={<ManageOrderPage />} />
                <Route path="today" element={<TodayPage />} />
                <Route path="sales" element={<SalesPage />} />
                <Route path="shop" element={<ShopPage />} />
              </Route>
            </Route>
            <Route path="*" element={<NotFoundPage />} />
          </Routes>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** Shown instead of a page that could not be rendered. Reloads when the connection is back: a script may have failed to load. */
function BrokenPage({ error }: FallbackProps) {
  useEffect(() => onlineManager.subscribe((isOnline) => isOnline && location.reload()), []);
  return <Failure error={error} onRetry={() => location.reload()} />;
}
