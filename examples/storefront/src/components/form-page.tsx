import type { ReactNode } from 'react';
import { PageHeading } from './page-heading';

/** Page with a heading and one form in a panel. */
export function FormPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page form-page">
      <section className="panel">
        <PageHeading>{title}</PageHeading>
        {children}
      </section>
    </div>
  );
}
