import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { t } from '../i18n';
import { Failure, Notice, type NoticeProps, OutdatedNote, Skeleton } from './notice';
import { PageHeading } from './page-heading';

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
      {isMissing && (
        <Notice {...(missing ?? { icon: 'shop', title: t('missing.title'), text: t('missing.text') })} />
      )}
      {!isMissing && (error ? <Failure error={error} onRetry={refetch} /> : <Skeleton />)}
    </>
  );
}
