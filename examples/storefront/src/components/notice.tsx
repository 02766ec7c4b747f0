import type { ReactNode } from 'react';
import { explain } from '../api/errors';
import { t } from '../i18n';
import { Button } from './button';
import { Icon, type IconName } from './icon';

export interface NoticeProps {
  icon: IconName;
  title: string;
  text: string;
  children?: ReactNode;
}

/** Message instead of content, with the possible next steps. */
export function Notice({ icon, title, text, children }: NoticeProps) {
  return (
    <div className="notice">
      <Icon name={icon} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div className="actions">{children}</div>}
    </div>
  );
}

/**
 * Notice that something failed, with a button to try again. It is inserted with its text, so some screen readers do not announce
 * it (see `Alert`).
 */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <div role="alert">
      <Notice icon="offline" title={t('error.title')} text={explain(error)}>
        <Button onClick={() => void onRetry()}>{t('tryAgain')}</Button>
      </Notice>
    </div>
  );
}

/** Alert above data that could not be reloaded. Shows nothing without an error. */
export function OutdatedNote({ error }: { error: unknown }) {
  return <Alert>{error ? t('error.outdated', { reason: explain(error) }) : null}</Alert>;
}

/** Message about a failure. Always rendered, because some screen readers ignore an alert that is inserted with its text. */
export function Alert({ children }: { children: ReactNode }) {
  return <div role="alert">{children && <p className="alert">{children}</p>}</div>;
}
