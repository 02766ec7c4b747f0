import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';

/** Returns the state for a link from the current page to a page with a `BackLink`: the path and query of the current page. */
export function useBackLinkState() {
  const { pathname, search } = useLocation();
  return { from: pathname + search };
}

interface BackLinkProps {
  /** Path to use if the linking page passed no state, for example for a page that was opened by its URL. */
  to: string;
  children: ReactNode;
}

/** Link back to the page that linked here, with its search and filters, if that page passed `useBackLinkState`. */
export function BackLink({ to, children }: BackLinkProps) {
  const { from = to } = (useLocation().state ?? {}) as Partial<ReturnType<typeof useBackLinkState>>;
  return (
    <Link className="back" to={from}>
      ← {children}
    </Link>
  );
}
