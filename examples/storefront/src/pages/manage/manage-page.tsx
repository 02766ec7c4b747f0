import type { PropsWithChildren, ReactNode } from 'react';
import { NavLink } from 'react-router';
import { PageHeading } from '../../components/page';

type ManagePageProps = PropsWithChildren<{ title: string; action?: ReactNode; search?: ReactNode }>;

/** A page for administrators, with the ways between their pages. */
export function ManagePage({ title, action, search, children }: ManagePageProps) {
  return (
    <div className="page narrow">
      <header className="page-head">
        <nav className="tabs" aria-label="Manage">
          <NavLink to="/manage/products">Products</NavLink>
          <NavLink to="/manage/orders">Orders</NavLink>
        </nav>
        <div className="title-line">
          <PageHeading>{title}</PageHeading>
          {action}
        </div>
        {search}
      </header>
      {children}
    </div>
  );
}
