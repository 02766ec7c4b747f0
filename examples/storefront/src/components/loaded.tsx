import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../i18n';
import { Failure, Notice, type NoticeProps, OutdatedNote } from './notice';
import { PageHeading } from './page-heading';

const SLOW_MS = 5_000;

/** Message after a few seconds of loading, so that a slow service does not look like a broken connection. */
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
  /** Notice for null, the data of a resource that does not exist. */
  missing?: NoticeProps;
  children: (data: Data) => ReactNode;
}

/** Shows the data of a query. Without data, shows that the data is loading, does not exist or failed to load. */
export function Loaded<Data>({ query, title, missing, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data === undefined)
    return (
      <>
        {title && <PageHeading isVisuallyHidden>{title}</PageHeading>}
        {error ? <Failure error={error} onRetry={refetch} /> : <Skeleton />}
      </>
    );
  if (data === null)
    return (
      <>
        {title && missing && <PageHeading isVisuallyHidden>{missing.title}</PageHeading>}
        {missing && <Notice {...missing} />}
      </>
    );
  return (
    <>
      <OutdatedNote error={error} />
      {children(data)}
    </>
  );
}
