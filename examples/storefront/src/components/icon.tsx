/**
 * Line drawing beside a text with the same meaning.
 *
 * @param name the part of the id after `icon-` in index.html
 */
export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
