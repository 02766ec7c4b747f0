import type { ComponentProps } from 'react';
import { Link } from 'react-router';

/** Does something on the page. */
export function Button({ className = 'button', ...attributes }: ComponentProps<'button'>) {
  return <button type="button" className={className} {...attributes} />;
}

/** Leads to another page, and looks like a button. */
export function ButtonLink({ className = 'button', ...attributes }: ComponentProps<typeof Link>) {
  return <Link className={className} {...attributes} />;
}
