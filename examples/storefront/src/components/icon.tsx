/** SVG icon: the `symbol` in index.html whose id is `icon-` and the name. */
export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
