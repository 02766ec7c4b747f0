import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button';
import { Failure } from './page';

export interface EndlessListProps<Item> {
  query: UseInfiniteQueryResult<Item[]>;
  label: string;
  className: string;
  /** An element `li` with a key. */
  renderItem: (item: Item) => ReactNode;
  /** Instead of a list without items. */
  empty: ReactNode;
  /** Below the last item. */
  end: (count: number) => string;
}

/** A list that loads its next page when its end comes near. */
export function EndlessList<Item>(props: EndlessListProps<Item>) {
  const { query, label, className, renderItem, empty, end } = props;
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage } = query;
  const isLoading = isFetchingNextPage || (data === undefined && isFetching);
  const hasFailed = !isLoading && (query.isFetchNextPageError || query.isLoadingError);
  const canLoadMore = hasNextPage && !isFetching && !hasFailed;

  // With new items, React calls it again and the end is looked for again: a short page does not move it away.
  const watchEnd = (foot: HTMLElement | null) => {
    if (!canLoadMore || foot === null) return;
    const loadWhenNear = ([entry]: IntersectionObserverEntry[]) => {
      if (entry?.isIntersecting) void fetchNextPage();
    };
    const observer = new IntersectionObserver(loadWhenNear, { rootMargin: '800px' });
    observer.observe(foot);
    return () => observer.disconnect();
  };

  const isEmpty = data?.length === 0 && !hasNextPage;
  return (
    <div aria-busy={isLoading}>
      {!isEmpty && (
        <ul className={className} aria-label={label}>
          {data?.map(renderItem)}
          {isLoading &&
            Array.from({ length: data === undefined ? 8 : 3 }, (_, index) => (
              <li key={`skeleton ${index}`} className="skeleton" aria-hidden="true" />
            ))}
        </ul>
      )}
      <div className={isEmpty ? undefined : 'list-foot'} ref={watchEnd}>
        {hasFailed && <Failure error={error} onRetry={data === undefined ? query.refetch : fetchNextPage} />}
        {hasNextPage && !hasFailed && (
          <Button className="button quiet" onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        )}
        {/* It is always there: screen readers only tell what changes within it. */}
        <div role="status">
          {isEmpty && empty}
          {!isEmpty && data !== undefined && !hasNextPage && <p className="end">{end(data.length)}</p>}
        </div>
      </div>
    </div>
  );
}
