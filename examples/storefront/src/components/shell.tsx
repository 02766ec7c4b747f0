import { onlineManager, useInfiniteQuery } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { type ReactNode, useSyncExternalStore } from 'react';
import { Link, NavLink, useNavigate } from 'react-router';
import { api } from '../api/client';
import { productList } from '../api/products';
import { formatCount } from '../format';
import { countPieces, useCart } from '../state/cart';
import { forgetPerson, useSession } from '../state/session';
import { toast, Toasts } from '../state/toast';
import { Button, ButtonLink } from './button';
import { Icon } from './icon';

/** Frame of every page: header with the navigation, note while offline, footer and messages. */
export function Shell({ children }: { children: ReactNode }) {
  return (
    <div className="shell">
      <header className="top">
        <Link className="brand" to="/">
          <img className="logo" src="/logo.svg" alt="" width={32} height={24} />
          Roti Pagi
        </Link>
        <MainNav />
        <Account />
      </header>
      <OfflineNote />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="bottom">
        <p>Roti Pagi, an example storefront of the bakery catalog service.</p>
      </footer>
      <Toasts />
    </div>
  );
}

const SHOP = { to: '/', label: 'Shop', icon: 'shop' };
const CART = { to: '/cart', label: 'Cart', icon: 'cart' };
const ORDERS = { to: '/orders', label: 'Orders', icon: 'orders' };
const ACCOUNT = { to: '/profile', label: 'Account', icon: 'person' };
// The label for administrators, who also see the orders of all customers under "Manage".
const OWN_ORDERS = { ...ORDERS, label: 'My orders' };
const MANAGE = { to: '/manage', label: 'Manage', icon: 'manage' };

const NAV_LINKS = {
  USER: [SHOP, ORDERS, CART, ACCOUNT],
  ADMIN: [MANAGE, SHOP, OWN_ORDERS, CART, ACCOUNT],
};

function MainNav() {
  const role = useSession(({ person }) => person?.role);
  // Reads only the query cache. `CatalogGuard` loads the list for visitors, who get it only if the catalog is public.
  const isCatalogPublic = useInfiniteQuery({ ...productList(), enabled: false }).data !== undefined;
  const links = role ? NAV_LINKS[role] : isCatalogPublic ? [SHOP, CART] : [];
  return (
    <nav className="main-nav" aria-label="Shop">
      {links.map(({ to, label, icon }) => (
        <NavLink key={to} to={to} end={to === '/'}>
          <Icon name={icon} />
          <span>{label}</span>
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
      <span className="visually-hidden">, {formatCount(pieces, 'piece')}</span>
    </>
  );
}

function Account() {
  const { person } = useSession();
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await dataOf(api.POST('/api/logout'));
      // Navigate first: without a person, `RequireUser` would redirect to the sign-in.
      void navigate('/', { replace: true });
      forgetPerson();
    } catch {
      toast('You could not be signed out. Check your connection and try again.');
    }
  };
  return (
    <div className="account">
      <span className="who">{person?.fullname}</span>
      {person === null ? (
        <ButtonLink to="/login" className="button quiet small">
          Sign in
        </ButtonLink>
      ) : (
        <Button className="link" onClick={() => void signOut()}>
          Sign out
        </Button>
      )}
    </div>
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
        <p className="offline">
          <Icon name="offline" />
          You are offline. Your cart is saved. The page updates when the connection is back.
        </p>
      )}
    </div>
  );
}
