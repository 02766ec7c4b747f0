import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';

/** Builds a page like those of the service in this benchmark: 50 products with 0 to 5 images. */
export function buildPage() {
  const products = Array.from({ length: 50 }, (_, index) => {
    const id = 50_000 + index;
    return {
      id,
      name: `Kue lapis ${id}`,
      description: `Loaf number ${id}, baked in the morning from flour, butter and eggs.`,
      price: (id % 500) * 1000 + 500,
      images:
        id % 6 === 0
          ? null
          : Array.from({ length: id % 6 }, () => `http://localhost:3000/api/images/${randomUUID()}.jpg`),
    };
  });
  return Buffer.from(
    JSON.stringify({ status: 'success', data: { meta: { lastProductId: products.at(-1).id }, products } }),
  );
}
