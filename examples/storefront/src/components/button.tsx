import type { ComponentProps } from 'react';
import { Link } from 'react-router';

interface ButtonProps extends ComponentProps<'button'> {
  /** True while the action runs: the button keeps the focus, looks busy and ignores clicks. */
  isBusy?: boolean | undefined;
}

/** Button for an action on the page. */
export function Button({ className = 'button', isBusy, onClick, ...attributes }: ButtonProps) {
  return (
    <button
      type="button"
      className={className}
      aria-disabled={isBusy}
      onClick={isBusy ? undefined : onClick}
      {...attributes}
    />
  );
}

export function ButtonLink({ className = 'button', ...attributes }: ComponentProps<typeof Link>) {
  return <Link className={className} {...attributes} />;
}
