import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { t } from '../i18n';
import { Button } from './button';
import { SlowNote } from './loaded';
import { Failure, OutdatedNote } from './notice';
import { NothingFound } from './search';

/** Number of grey placeholders while the first page is loading, and while a further page is loading. */
const FIRST_SKELETONS = 8;
const FURTHER_SKELETONS = 3;

export interface InfiniteListProps<Item> {
  query: UseInfiniteQueryResult<Item[]>;
  label: string;
  /** Formats a number of items, for example `2 orders`. */
  formatCount: (count: number) => string;
  className: 'grid' | 'rows';
  /** Renders an `li` element with a key. */
  renderItem: (item: Item, index: number) => ReactNode;
  empty: ReactNode;
  /** Text if nothing matches the search and the filters. Undefined without a search or filter. */
  notFoundText?: string | undefined;
}

/** List that loads its next page before the end of the list is scrolled into view. */
export function InfiniteList<Item>(props: InfiniteListProps<Item>) {
  const { query, label, formatCount, className, renderItem, empty, notFoundText } = props;
  const isFiltered = notFoundText !== undefined;
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage } = query;
  const isLoading = isFetchingNextPage || (data === undefined && isFetching);
  const hasFailed = !isLoading && (query.isFetchNextPageError || query.isLoadingError);
  const canLoadMore = hasNextPage && !isFetching && !hasFailed;

  const foot = useRef<HTMLDivElement>(null);
  // Observe again after each page. If the end is still in view after a short page, the old observer reports nothing.
  useEffect(() => {
    if (!canLoadMore || foot.current === null) return;
    const loadWhenNear = (entries: IntersectionObserverEntry[]) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void fetchNextPage();
    };
    const observer = new IntersectionObserver(loadWhenNear, { rootMargin: '800px' });
    observer.observe(foot.current);
    return () => observer.disconnect();
  }, [canLoadMore, fetchNextPage]);

  const isEmpty = data?.length === 0 && !hasNextPage;
  return (
    <div aria-busy={isLoading}>
      <OutdatedNote error={query.isRefetchError && error} />
      {isLoading && <SlowNote />}
      {!isEmpty && (
        <ul className={className} aria-label={label}>
          {data?.map(renderItem)}
          {isLoading &&
            Array.from({ length: data === undefined ? FIRST_SKELETONS : FURTHER_SKELETONS }, (_, index) => (
              <li key={`skeleton ${index}`} className="skeleton" aria-hidden="true" />
            ))}
        </ul>
      )}
      <div className={isEmpty ? undefined : 'list-foot'} ref={foot}>
        {hasFailed && <Failure error={error} onRetry={data === undefined ? query.refetch : fetchNextPage} />}
        {hasNextPage && !hasFailed && (
          <Button className="button quiet" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('list.more')}
          </Button>
        )}
        {/* Always rendered: screen readers announce changes only inside an existing status element. */}
        <div role="status">
          {isEmpty && (isFiltered ? <NothingFound text={notFoundText} /> : empty)}
          {!isEmpty && data && !hasNextPage && (
            <p className="end">
              {t(isFiltered ? 'list.found' : 'list.all', { items: formatCount(data.length) })}
            </p>
          )}
        </div>
      </div>
    </div>
  );
}
