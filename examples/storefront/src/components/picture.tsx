import { type ComponentProps, useState } from 'react';
import { sizedImage } from 'bakery-client';

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
  /** Width of the picture on the page, as in the attribute of `img`. */
  sizes?: string;
}

/** Picture of a product, or a drawing if `src` is undefined or fails to load. */
export function Picture({
  product: { id, name },
  src,
  alt = '',
  sizes = '6rem',
  ...attributes
}: PictureProps) {
  const [brokenSrc, setBrokenSrc] = useState<string>();
  const [drawing = 'bun'] = DRAWINGS.find(([, pattern]) => pattern.test(name)) ?? [];
  const isDrawn = src === undefined || src === brokenSrc;
  const image = isDrawn
    ? { className: 'drawing', src: `/drawings/${drawing}.svg`, alt: '', width: 120, height: 120 }
    : {
        src: sizedImage(src, 480),
        srcSet: `${sizedImage(src, 480)} 480w, ${sizedImage(src, 960)} 960w`,
        sizes,
        alt,
        width: 640,
        height: 480,
        loading: 'lazy' as const,
        onError: () => setBrokenSrc(src),
      };
  return (
    <div className={`picture tint-${id % TINT_COUNT}`}>
      <img decoding="async" {...image} {...attributes} />
    </div>
  );
}
