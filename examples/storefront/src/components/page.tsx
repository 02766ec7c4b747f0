import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';
import { explain } from '../api/errors';
import { Button } from './button';
import { Icon } from './icon';

/** The path on which the shop was opened, until another page is shown: the browser itself reads the first page. */
let firstPath: string | null = location.pathname;

interface PageHeadingProps {
  children: string;
  /** Only for screen readers. */
  hidden?: boolean;
}

/**
 * The heading of a page, which also names the tab. When it or its page is new it takes the focus, and the page is shown
 * from the top; on the way back the browser scrolls to where the person was.
 */
export function PageHeading({ children, hidden = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  const navigation = useNavigationType();
  useEffect(() => {
    document.title = `${children} · Roti Pagi`;
  }, [children]);
  useLayoutEffect(() => {
    if (pathname === firstPath) return;
    firstPath = null;
    if (navigation !== NavigationType.Pop) window.scrollTo(0, 0);
    // A form's first field may have the focus already.
    const isInPage = document.querySelector('main')?.contains(document.activeElement) === true;
    if (!isInPage) heading.current?.focus({ preventScroll: true });
  }, [pathname, navigation]);
  return (
    <h1 ref={heading} tabIndex={-1} className={hidden ? 'hidden' : undefined}>
      {children}
    </h1>
  );
}

/** A page with one small form. */
export function FormPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page gate">
      <section className="panel">
        <PageHeading>{title}</PageHeading>
        {children}
      </section>
    </div>
  );
}

interface NoticeProps {
  icon: string;
  title: string;
  text: string;
  role?: 'alert';
  /** What can be done. */
  children?: ReactNode;
}

/** In place of content that is not there: what that means and what can be done. */
export function Notice({ icon, title, text, role, children }: NoticeProps) {
  return (
    <div className="notice" role={role}>
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div className="actions">{children}</div>}
    </div>
  );
}

/** In place of content that could not be loaded. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <Notice icon="offline" title="That did not work" text={explain(error)} role="alert">
      <Button onClick={() => void onRetry()}>Try again</Button>
    </Notice>
  );
}

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data | null>, 'data' | 'error' | 'refetch'>;
  /** Name of the page while there are no data. Without it the page has a heading of its own. */
  title?: string;
  /** What to say when the service has no such thing. */
  missing: NoticeProps;
  children: (data: Data) => ReactNode;
}

/** Content that is loaded: grey bars before, a notice if it does not exist (null) or could not be loaded. */
export function Loaded<Data>({ query, title, missing, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data != null) return children(data);
  return (
    <>
      {title && <PageHeading hidden>{data === null ? `${title} not found` : title}</PageHeading>}
      {data === null ? (
        <Notice {...missing} />
      ) : error ? (
        <Failure error={error} onRetry={refetch} />
      ) : (
        <Bars />
      )}
    </>
  );
}

/** Why something that was tried has failed; nothing if it has not. */
export function Alert({ children }: { children: ReactNode }) {
  return <div role="alert">{children && <p className="alert">{children}</p>}</div>;
}

/** Grey bars in place of text that is being loaded. */
export function Bars() {
  return <div className="skeleton bars" aria-hidden="true" />;
}
