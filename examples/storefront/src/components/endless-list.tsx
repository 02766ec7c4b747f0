import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button';
import { Failure } from './page';

interface EndlessListProps<Item> {
  query: UseInfiniteQueryResult<Item[]>;
  label: string;
  className: string;
  /** An element `li` with a key. */
  renderItem: (item: Item) => ReactNode;
  /** In place of an item that is being loaded. */
  skeleton: ReactNode;
  /** Instead of a list without items. */
  empty: ReactNode;
  /** Below the last item. */
  end: (count: number) => string;
}

/** A list that loads its next page when its end comes near. */
export function EndlessList<Item>(props: EndlessListProps<Item>) {
  const { query, label, className, renderItem, skeleton, empty, end } = props;
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage } = query;
  const isLoading = isFetchingNextPage || (data === undefined && isFetching);
  const hasFailed = !isLoading && (query.isFetchNextPageError || query.isLoadingError);
  const canLoadMore = hasNextPage && !isFetching && !hasFailed;
  const foot = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (!canLoadMore || foot.current === null) return;
    const loadWhenNear = ([entry]: IntersectionObserverEntry[]) => {
      if (entry?.isIntersecting) void fetchNextPage();
    };
    const observer = new IntersectionObserver(loadWhenNear, { rootMargin: '800px' });
    observer.observe(foot.current);
    return () => observer.disconnect();
    // With new items the end is looked for again: a short page does not move it away.
  }, [canLoadMore, fetchNextPage, data]);

  if (data?.length === 0 && !hasNextPage) return empty;
  return (
    <div aria-busy={isLoading}>
      <ul className={className} aria-label={label}>
        {data?.map(renderItem)}
        {isLoading &&
          Array.from({ length: data === undefined ? 8 : 3 }, (_, index) => (
            <li key={`skeleton ${index}`} aria-hidden="true">
              {skeleton}
            </li>
          ))}
      </ul>
      <div className="list-foot" ref={foot}>
        {hasFailed && <Failure error={error} onRetry={data === undefined ? query.refetch : fetchNextPage} />}
        {hasNextPage && !hasFailed && (
          <Button className="button quiet" onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        )}
        {data !== undefined && !hasNextPage && <p className="end">{end(data.length)}</p>}
      </div>
    </div>
  );
}
