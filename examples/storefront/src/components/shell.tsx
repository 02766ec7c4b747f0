import { onlineManager, useInfiniteQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { type ReactNode, useSyncExternalStore } from 'react';
import { Link, NavLink, useNavigate } from 'react-router';
import { api } from '../api/client';
import { explain } from '../api/errors';
import { productList } from '../api/products';
import { LANGUAGE_NAMES, t, useLanguage } from '../i18n';
import { countPieces, useCart } from '../state/cart';
import { chooseLanguage } from '../state/language';
import { forgetUser, useSession } from '../state/session';
import { showToast, ToastRegion } from '../state/toast';
import { Button, ButtonLink } from './button';
import { Icon } from './icon';
import { useShopName } from '../api/shop';
import { ClosedNote } from './closed-note';
import { ShopContact } from './shop-contact';

/** Frame of every page: header with the navigation, note while offline, footer and messages. */
export function Shell({ children }: { children: ReactNode }) {
  const name = useShopName();
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {t('skip')}
      </a>
      <header className="site-header">
        <Link className="brand" to="/">
          <img className="logo" src="/logo.svg" alt="" width={32} height={24} />
          {name}
        </Link>
        <MainNav />
        <LanguageSwitch />
        <Account />
      </header>
      <OfflineNote />
      <ClosedNote />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="site-footer">
        <ShopContact />
        <p>{t('footer', { name })}</p>
      </footer>
      <ToastRegion />
    </div>
  );
}

const SHOP = { to: '/', label: 'nav.shop', icon: 'shop' } as const;
const CART = { to: '/cart', label: 'nav.cart', icon: 'cart' } as const;
const ORDERS = { to: '/orders', label: 'nav.orders', icon: 'orders' } as const;
const ACCOUNT = { to: '/profile', label: 'nav.account', icon: 'person' } as const;
// The label for administrators, who also see the orders of all customers under "Manage".
const OWN_ORDERS = { ...ORDERS, label: 'nav.ownOrders' } as const;
const MANAGE = { to: '/manage', label: 'nav.manage', icon: 'manage' } as const;

const NAV_LINKS = {
  USER: [SHOP, ORDERS, CART, ACCOUNT],
  ADMIN: [MANAGE, SHOP, OWN_ORDERS, CART, ACCOUNT],
};

function MainNav() {
  const role = useSession(({ user }) => user?.role);
  // Reads only the query cache. `CatalogGuard` loads the list for visitors, who get it only if the catalog is public.
  const isCatalogPublic = useInfiniteQuery({ ...productList(), enabled: false }).data !== undefined;
  const linksOfVisitors = isCatalogPublic ? [SHOP, CART] : [];
  const links = role ? NAV_LINKS[role] : linksOfVisitors;
  return (
    <nav className="main-nav" aria-label={t('nav.shop')}>
      {links.map(({ to, label, icon }) => (
        <NavLink key={to} to={to} end={to === '/'}>
          <Icon name={icon} />
          <span>{t(label)}</span>
          {to === '/cart' && <PieceCount />}
        </NavLink>
      ))}
    </nav>
  );
}

function PieceCount() {
  const pieces = countPieces(useCart());
  if (pieces === 0) return null;
  return (
    <>
      <span className="pieces" aria-hidden="true">
        {pieces > 99 ? '99+' : pieces}
      </span>
      <span className="visually-hidden">, {t('count.pieces', { count: pieces })}</span>
    </>
  );
}

function Account() {
  const { user } = useSession();
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await dataOf(api.POST('/api/logout'));
      // Navigate first: without a user, `RequireUser` would redirect to the sign-in.
      void navigate('/', { replace: true });
      forgetUser();
    } catch {
      showToast(t('account.signOutFailed'));
    }
  };
  return (
    <div className="account">
      <span className="who">{user?.fullname}</span>
      {user === null ? (
        <ButtonLink to="/login" className="button quiet small">
          {t('account.signIn')}
        </ButtonLink>
      ) : (
        <Button className="link" onClick={() => void signOut()}>
          {t('account.signOut')}
        </Button>
      )}
    </div>
  );
}

/** Button that changes to the other language. Screen readers read its name in that language. */
function LanguageSwitch() {
  const other = useLanguage() === 'en' ? 'id' : 'en';
  const change = () => chooseLanguage(other).catch((error: unknown) => showToast(explain(error)));
  return (
    <Button className="link language" lang={other} onClick={() => void change()}>
      {other.toUpperCase()}
      <span className="visually-hidden">: {LANGUAGE_NAMES[other]}</span>
    </Button>
  );
}

function OfflineNote() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <div role="status">
      {!isOnline && (
        <p className="banner offline">
          <Icon name="offline" />
          {t('offline')}
        </p>
      )}
    </div>
  );
}
