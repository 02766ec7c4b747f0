import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { explain } from '../api/errors';
import { t } from '../i18n';
import { Button } from './button';
import { Icon } from './icon';
import { PageHeading } from './page';

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
    <Notice icon="offline" title={t('error.title')} text={explain(error)} role="alert">
      <Button onClick={() => void onRetry()}>{t('tryAgain')}</Button>
    </Notice>
  );
}

/** Message above data that could not be reloaded. Shows nothing without an error. */
export function OutdatedNote({ error }: { error: unknown }) {
  return <Alert>{error ? t('error.outdated', { reason: explain(error) }) : null}</Alert>;
}

export function Alert({ children }: { children: ReactNode }) {
  return <div role="alert">{children && <p className="alert">{children}</p>}</div>;
}

const SLOW_MS = 5_000;

/** Message after a few seconds of loading: a slow service is not a broken connection. */
export function SlowNote() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="hint">
      {isSlow && t('error.slow')}
    </p>
  );
}

/** Grey bars instead of text that is loading. */
export function Skeleton() {
  return (
    <>
      <SlowNote />
      <div className="skeleton bars" aria-hidden="true" />
    </>
  );
}

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data | null>, 'data' | 'error' | 'refetch'>;
  /** Heading of the page while there is no data. Leave it out if the page shows a heading outside of `Loaded`. */
  title?: string;
  /** Notice if the data is null. */
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
  const isMissing = data === null;
  const heading = title && isMissing ? t('error.notFound', { title }) : title;
  return (
    <>
      {heading && <PageHeading isVisuallyHidden>{heading}</PageHeading>}
      {isMissing && missing && <Notice {...missing} />}
      {!isMissing && (error ? <Failure error={error} onRetry={refetch} /> : <Skeleton />)}
    </>
  );
}
