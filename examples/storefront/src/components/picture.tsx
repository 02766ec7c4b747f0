import { type ComponentProps, useState } from 'react';

/** Drawings in public/drawings, each with a pattern for product names. The first match counts. The default is `bun`. */
const DRAWINGS: readonly (readonly [string, RegExp])[] = [
  ['croissant', /croissant|cornetto|kouign/i],
  ['ring', /donat|donut|doughnut|bagel|ring/i],
  ['cake', /cake|kue|lapis|bolu|tart|brownie|slice|legit|cheese/i],
  ['loaf', /roti|bread|loaf|sourdough|toast|rye/i],
];
const TINT_COUNT = 5;

interface PictureProps extends ComponentProps<'img'> {
  product: { id: number; name: string };
}

/** Picture of a product, or a drawing if `src` is undefined or fails to load. */
export function Picture({ product: { id, name }, src, alt = '', ...attributes }: PictureProps) {
  const [brokenSrc, setBrokenSrc] = useState<string>();
  const [drawing = 'bun'] = DRAWINGS.find(([, pattern]) => pattern.test(name)) ?? [];
  const isDrawn = src === undefined || src === brokenSrc;
  const image = isDrawn
    ? { className: 'drawing', src: `/drawings/${drawing}.svg`, alt: '', width: 120, height: 120 }
    : { src, alt, width: 640, height: 480, loading: 'lazy' as const, onError: () => setBrokenSrc(src) };
  return (
    <div className={`picture tint-${id % TINT_COUNT}`}>
      <img decoding="async" {...image} {...attributes} />
    </div>
  );
}
