import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { Link, NavigationType, useLocation, useNavigationType } from 'react-router';
import { explain } from '../api/errors';
import { Button } from './button';
import { Icon } from './icon';

// Path of the page that the browser has loaded, null after a navigation. The heading of this page does not take the focus,
// because the browser announces the page.
let loadedPath: string | null = location.pathname;

interface PageHeadingProps {
  children: string;
  /** Shows the heading only to screen readers. */
  isVisuallyHidden?: boolean;
}

/**
 * Heading of a page, and title of the tab. After a navigation, the heading takes the focus, and the page scrolls to the
 * top. After a step back or forward, the browser restores the scroll position instead.
 */
export function PageHeading({ children, isVisuallyHidden = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  const navigation = useNavigationType();
  useEffect(() => {
    document.title = `${children} · Roti Pagi`;
  }, [children]);
  useLayoutEffect(() => {
    if (pathname === loadedPath) return;
    loadedPath = null;
    if (navigation !== NavigationType.Pop) window.scrollTo(0, 0);
    // The first field of a form may already have the focus.
    const isFocusInPage = document.querySelector('main')?.contains(document.activeElement) === true;
    if (!isFocusInPage) heading.current?.focus({ preventScroll: true });
  }, [pathname, navigation]);
  return (
    <h1 ref={heading} tabIndex={-1} className={isVisuallyHidden ? 'visually-hidden' : undefined}>
      {children}
    </h1>
  );
}

/** Moves the focus to the page's heading. Call it after an action that removes the focused button. */
export function focusHeading() {
  document.querySelector('h1')?.focus({ preventScroll: true });
}

/** State of the history entry of a page with a `BackLink`. `from` is the path and query of the linking page. */
interface BackLinkState {
  from?: string;
}

/** Returns the state for a link from the current page to a page with a `BackLink`. */
export function useBackLinkState(): BackLinkState {
  const { pathname, search } = useLocation();
  return { from: pathname + search };
}

interface BackLinkProps {
  /** Path of the list without search and filters, used if the person did not come from the list. */
  to: string;
  children: ReactNode;
}

/** Link back to a list, with the search and the filters that it had. */
export function BackLink({ to, children }: BackLinkProps) {
  const { from = to } = (useLocation().state ?? {}) as BackLinkState;
  return (
    <Link className="back" to={from}>
      ← {children}
    </Link>
  );
}

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

interface NoticeProps {
  icon: string;
  title: string;
  text: string;
  role?: 'alert';
  children?: ReactNode;
}

/** Message instead of content, with the possible next steps. */
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

export function Failure({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <Notice icon="offline" title="That did not work" text={explain(error)} role="alert">
      <Button onClick={() => void onRetry()}>Try again</Button>
    </Notice>
  );
}

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data | null>, 'data' | 'error' | 'refetch'>;
  /** Heading of the page while there is no data. Leave it out if the page shows a heading outside of `Loaded`. */
  title?: string;
  /** Notice if the data is null. Required if the query can return null. */
  missing?: NoticeProps;
  children: (data: Data) => ReactNode;
}

/**
 * Shows the data of a query, grey bars while loading, or a message: not found (`null`) or failed to load. If data is
 * shown and cannot be reloaded, a message above it says so.
 */
export function Loaded<Data>({ query, title, missing, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data != null)
    return (
      <>
        <OutdatedNote error={error} />
        {children(data)}
      </>
    );
  return (
    <>
      {title && <PageHeading isVisuallyHidden>{data === null ? `${title} not found` : title}</PageHeading>}
      {data === null && missing ? (
        <Notice {...missing} />
      ) : error ? (
        <Failure error={error} onRetry={refetch} />
      ) : (
        <Skeleton />
      )}
    </>
  );
}

/** Message above data that could not be reloaded. Shows nothing without an error. */
export function OutdatedNote({ error }: { error: unknown }) {
  return <Alert>{error ? `This may be outdated. ${explain(error)}` : null}</Alert>;
}

export function Alert({ children }: { children: ReactNode }) {
  return <div role="alert">{children && <p className="alert">{children}</p>}</div>;
}

/** Grey bars instead of text that is loading. */
export function Skeleton() {
  return <div className="skeleton bars" aria-hidden="true" />;
}
