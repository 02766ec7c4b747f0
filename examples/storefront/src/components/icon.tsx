/**
 * A line drawing, beside a text that says the same.
 *
 * @param name of an `icon-…` in index.html
 */
export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
