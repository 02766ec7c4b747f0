import type { ComponentProps, KeyboardEvent, MouseEvent } from 'react';
import { Link } from 'react-router';

export interface ButtonProps extends ComponentProps<'button'> {
  /**
   * True while the action runs: the button keeps the focus, looks busy and ignores clicks. Set it, also to false, for an action that
   * a double-click or Enter that is held down must not repeat. Without it, every click counts.
   */
  isBusy?: boolean | undefined;
}

/** Button for an action on the page. */
export function Button({ className = 'button', isBusy, onClick, ...attributes }: ButtonProps) {
  // The second click of a double-click must not act again. It may come before the button looks busy, or after the action has ended.
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    if (isBusy === undefined || (!isBusy && event.detail < 2)) onClick?.(event);
  };
  const ignoreRepeatedEnter = (event: KeyboardEvent) => {
    if (isBusy !== undefined && event.key === 'Enter' && event.repeat) event.preventDefault();
  };
  return (
    <button
      type="button"
      className={className}
      aria-disabled={isBusy}
      onClick={handleClick}
      onKeyDown={ignoreRepeatedEnter}
      {...attributes}
    />
  );
}

export function ButtonLink({ className = 'button', ...attributes }: ComponentProps<typeof Link>) {
  return <Link className={className} {...attributes} />;
}
