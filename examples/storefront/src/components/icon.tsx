export type IconName =
  | 'shop'
  | 'cart'
  | 'orders'
  | 'person'
  | 'manage'
  | 'check'
  | 'clock'
  | 'cross'
  | 'offline'
  | 'picture'
  | 'away';

/** A line drawing of index.html, beside a text that says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
