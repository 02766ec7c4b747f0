import { onlineManager } from '@tanstack/react-query';
import { sizedImage } from 'bakery-client';
import { type ComponentProps, useEffect, useState } from 'react';

/** Drawings in public/drawings, each with a pattern for product names. The first match counts. */
const DRAWINGS = [
  { drawing: 'croissant', pattern: /croissant|cornetto|kouign/i },
  { drawing: 'ring', pattern: /donat|donut|doughnut|bagel|\bring\b/i },
  { drawing: 'cake', pattern: /cake|kue|lapis|bolu|tart|brownie|slice|legit|cheese/i },
  { drawing: 'loaf', pattern: /roti|bread|loaf|sourdough|toast|rye/i },
];
const DEFAULT_DRAWING = 'bun';

interface ProductImageProps extends ComponentProps<'img'> {
  product: { name: string };
  /** Width of the image on the page, as in the attribute of `img`. */
  sizes?: string;
}

/** Image of a product, or a drawing if `src` is undefined or fails to load. */
export function ProductImage({
  product: { name },
  src,
  alt = '',
  sizes = '6rem',
  ...attributes
}: ProductImageProps) {
  const [brokenSrc, setBrokenSrc] = useState<string>();
  // Without a connection, every image fails to load.
  useEffect(() => onlineManager.subscribe((isOnline) => isOnline && setBrokenSrc(undefined)), []);
  const isDrawn = src === undefined || src === brokenSrc;
  const image = isDrawn
    ? { className: 'drawing', src: `/drawings/${chooseDrawing(name)}.svg`, alt: '', width: 120, height: 120 }
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
    <div className="product-image">
      <img decoding="async" {...image} {...attributes} />
    </div>
  );
}

function chooseDrawing(productName: string) {
  return DRAWINGS.find(({ pattern }) => pattern.test(productName))?.drawing ?? DEFAULT_DRAWING;
}
