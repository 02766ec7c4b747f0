import { type ReactNode, useEffect, useRef } from 'react';
import { explain } from '../api/errors';
import { isFocusLost } from '../routing/use-page-change';
import { Button } from './button';
import { Icon, type IconName } from './icon';

interface PageHeadingProps {
  children: string;
  /** Only for screen readers. */
  hidden?: boolean;
}

/** The heading of a page, which also names the tab. A change of page moves the focus to it. */
export function PageHeading({ children, hidden = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Roti Pagi`;
  }, [children]);
  useEffect(() => {
    if (isFocusLost()) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={hidden ? 'hidden' : undefined}>
      {children}
    </h1>
  );
}

/** A page with one small form. */
export function FormPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="page gate">
      <section className="panel">
        <PageHeading>{title}</PageHeading>
        {children}
      </section>
    </div>
  );
}

interface NoticeProps {
  icon: IconName;
  title: string;
  text: string;
  role?: 'alert';
  /** What can be done. */
  children?: ReactNode;
}

/** In place of content that is not there: what that means and what can be done. */
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

/** In place of content that could not be loaded. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <Notice icon="offline" title="That did not work" text={explain(error)} role="alert">
      <Button onClick={() => void onRetry()}>Try again</Button>
    </Notice>
  );
}

/** Grey bars in place of text that is being loaded. */
export function Bars({ lines }: { lines: number }) {
  return (
    <div className="skeleton bars" aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}
