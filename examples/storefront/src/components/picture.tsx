import { useState } from 'react';

/** Drawings in public/drawings for products without a picture, and the names that they fit. */
const DRAWINGS: readonly (readonly [string, RegExp])[] = [
  ['croissant', /croissant|cornetto|kouign/i],
  ['ring', /donat|donut|doughnut|bagel|ring/i],
  ['cake', /cake|kue|lapis|bolu|tart|brownie|slice|legit|cheese/i],
  ['loaf', /roti|bread|loaf|sourdough|toast|rye/i],
  ['bun', /./],
];
const TINTS = 5;

interface PictureProps {
  product: { id: number; name: string };
  /** Address of the picture; nothing if the product has none. */
  image?: string | null | undefined;
  alt?: string;
  loading?: 'eager' | 'lazy';
}

/** The picture of a product; a drawing if it has none, or if it cannot be loaded. */
export function Picture({ product: { id, name }, image, alt = '', loading = 'lazy' }: PictureProps) {
  const [broken, setBroken] = useState<string>();
  const [drawing = 'bun'] = DRAWINGS.find(([, names]) => names.test(name)) ?? [];
  return (
    <div className={`picture tint-${id % TINTS}`}>
      {image === broken || typeof image !== 'string' ? (
        <img className="drawing" src={`/drawings/${drawing}.svg`} alt="" width={120} height={120} />
      ) : (
        <img
          src={image}
          alt={alt}
          width={640}
          height={480}
          decoding="async"
          loading={loading}
          onError={() => setBroken(image)}
        />
      )}
    </div>
  );
}
