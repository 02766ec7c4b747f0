import type { PropsWithChildren, ReactNode } from 'react';
import { NavLink } from 'react-router';
import { PageHeading } from '../../components/page';
import './manage.css';

interface ManagePageProps {
  title: string;
  action?: ReactNode;
  belowTitle?: ReactNode;
  isWide?: boolean;
}

/** Page for administrators, with the navigation between their pages. */
export function ManagePage(props: PropsWithChildren<ManagePageProps>) {
  const { title, action, belowTitle, isWide = false, children } = props;
  return (
    <div className={isWide ? 'page' : 'page narrow'}>
      <header className="page-head">
        <nav className="tabs" aria-label="Manage">
          <NavLink to="/manage/today">Today</NavLink>
          <NavLink to="/manage/orders">Orders</NavLink>
          <NavLink to="/manage/products">Products</NavLink>
          <NavLink to="/manage/sales">Sales</NavLink>
          <NavLink to="/manage/shop">Hours</NavLink>
        </nav>
        <div className="title-line">
          <PageHeading>{title}</PageHeading>
          {action}
        </div>
        {belowTitle}
      </header>
      {children}
    </div>
  );
}
