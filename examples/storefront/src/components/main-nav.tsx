import { useInfiniteQuery } from '@tanstack/react-query';
import { NavLink } from 'react-router';
import { productList } from '../api/products';
import { t } from '../i18n';
import { countPieces, useCart } from '../state/cart';
import { useSession } from '../state/session';
import { Icon } from './icon';

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

/** Navigation between the pages that the person may open. */
export function MainNav() {
  const role = useSession(({ user }) => user?.role);
  // Reads only the query cache. `RequireCatalogAccess` loads the list for visitors, who get it only if the catalog is public.
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
