import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';

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
