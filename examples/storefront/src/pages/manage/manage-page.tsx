import type { PropsWithChildren, ReactNode } from 'react';
import { NavLink } from 'react-router';
import { PageHeading } from '../../components/page-heading';
import { type Language, t, useLanguage } from '../../i18n';
import { Announcements } from './announcements';
import './manage.css';

interface ManagePageProps {
  title: string;
  besideTitle?: ReactNode;
  belowTitle?: ReactNode;
  isWide?: boolean;
}

/** Pages that the build generates from docs/guide.md and docs/panduan.md. */
const GUIDES: Record<Language, string> = { en: '/guide.html', id: '/panduan.html' };

/** Page for administrators, with the navigation between their pages. */
export function ManagePage(props: PropsWithChildren<ManagePageProps>) {
  const { title, besideTitle, belowTitle, isWide = false, children } = props;
  const guide = GUIDES[useLanguage()];
  return (
    <div className={isWide ? 'page' : 'page narrow'}>
      <Announcements />
      <header className="page-head">
        <nav className="tabs" aria-label={t('nav.manage')}>
          <NavLink to="/manage/today">{t('today')}</NavLink>
          <NavLink to="/manage/orders">{t('nav.orders')}</NavLink>
          <NavLink to="/manage/products">{t('manage.products')}</NavLink>
          <NavLink to="/manage/sales">{t('manage.sales')}</NavLink>
          <NavLink to="/manage/shop">{t('manage.hours')}</NavLink>
          <a href={guide} target="_blank" rel="noopener">
            {t('manage.guide')}
            <span className="visually-hidden"> {t('newTab')}</span>
          </a>
        </nav>
        <div className="title-line">
          <PageHeading>{title}</PageHeading>
          {besideTitle}
        </div>
        {belowTitle}
      </header>
      {children}
    </div>
  );
}
