import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { PageHeading } from '../../components/page';

interface ManagePageProps {
  title: string;
  /** Beside the title. */
  action?: ReactNode;
  /** Below the title. */
  search?: ReactNode;
  children: ReactNode;
}

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
