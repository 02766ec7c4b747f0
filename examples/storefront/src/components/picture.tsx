import { useState } from 'react';

/** In public/drawings, for products without a picture. */
const DRAWINGS = ['bun', 'croissant', 'loaf', 'cake', 'ring'];
const TINTS = 5;

interface PictureProps {
  product: { id: number };
  /** Address of the picture; nothing if the product has none. */
  image?: string | null | undefined;
  alt?: string;
  loading?: 'eager' | 'lazy';
}

/** The picture of a product; a drawing if it has none, or if it cannot be loaded. */
export function Picture({ product: { id }, image, alt = '', loading = 'lazy' }: PictureProps) {
  const [broken, setBroken] = useState<string>();
  return (
    <div className={`picture tint-${id % TINTS}`}>
      {image === broken || typeof image !== 'string' ? (
        <img
          className="drawing"
          src={`/drawings/${DRAWINGS[id % DRAWINGS.length]}.svg`}
          alt=""
          width={120}
          height={120}
        />
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
