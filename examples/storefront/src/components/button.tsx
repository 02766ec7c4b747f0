import type { ComponentProps } from 'react';
import { Link } from 'react-router';

/** Button for an action on the page. While it is `aria-disabled` it keeps the focus, looks busy and ignores clicks. */
export function Button({ className = 'button', onClick, ...attributes }: ComponentProps<'button'>) {
  const isBusy = attributes['aria-disabled'] === true;
  return (
    <button type="button" className={className} onClick={isBusy ? undefined : onClick} {...attributes} />
  );
}

export function ButtonLink({ className = 'button', ...attributes }: ComponentProps<typeof Link>) {
  return <Link className={className} {...attributes} />;
}
