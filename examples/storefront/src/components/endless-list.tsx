import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { count } from '../format';
import { Button } from './button';
import { Failure } from './page';
import { NothingFound } from './search';

export interface EndlessListProps<Item> {
  query: UseInfiniteQueryResult<Item[]>;
  label: string;
  /** What an item is called, for example `order`. */
  noun: string;
  className: 'grid' | 'rows';
  /** An element `li` with a key. */
  renderItem: (item: Item) => ReactNode;
  /** Instead of a list without items. */
  empty: ReactNode;
  /** Only for a search: what to say when it finds nothing. */
  notFound?: string | false;
  /** Below the last item. Gets the counted items, for example `2 orders`. */
  end?: (items: string) => string;
}

/** A list that loads its next page when its end comes near. */
export function EndlessList<Item>(props: EndlessListProps<Item>) {
  const { query, label, noun, className, renderItem, empty, notFound } = props;
  const { end = (items) => `${items} ${notFound ? 'found' : 'in all'}.` } = props;
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
          {isEmpty && (notFound ? <NothingFound text={notFound} /> : empty)}
          {!isEmpty && data && !hasNextPage && <p className="end">{end(count(data.length, noun))}</p>}
        </div>
      </div>
    </div>
  );
}
