import type { ComponentProps, KeyboardEvent, MouseEvent } from 'react';
import { Link } from 'react-router';

export interface ButtonProps extends ComponentProps<'button'> {
  /** True while the action runs: the button keeps the focus, looks busy and ignores clicks. */
  isBusy?: boolean | undefined;
}

/**
 * Button for an action, which a double-click or Enter that is held down does not repeat. The second click may come after the action
 * has ended, or after another button has moved under the mouse. If every click should count, use a plain `button`.
 */
export function Button({ className = 'button', isBusy, onClick, ...attributes }: ButtonProps) {
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    // Also keeps the button from submitting its form.
    if (isBusy || event.detail > 1) event.preventDefault();
    else onClick?.(event);
  };
  const ignoreRepeatedEnter = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.repeat) event.preventDefault();
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
