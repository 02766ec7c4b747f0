import { createHash, randomBytes } from 'node:crypto';

/** PNG of one gray pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

/** Creates a valid PNG. Different seeds create different files: decoders ignore bytes after the end of an image. */
export function png(seed: string | number = 0): Buffer {
  return Buffer.concat([PNG, digest(seed)]);
}

/** Creates a file of this size that starts like a PNG and cannot be compressed. */
export function noisyPng(size: number): Buffer {
  return Buffer.concat([PNG.subarray(0, 8), randomBytes(size - 8)]);
}

/** Creates a file that starts like a JPEG. Its bytes depend on the seed. */
export function jpeg(seed: string | number = 0): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), digest(seed), Buffer.from('ffd9', 'hex')]);
}

/** Creates an SVG with a script, which an attacker could name `.png`. */
export function svgNamedPng(): Buffer {
  return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
}

/** Pads a file with zeros to `size` bytes. */
export function padded(bytes: Buffer, size: number): Buffer {
  if (size < bytes.length) throw new RangeError(`the file has ${bytes.length} bytes already`);
  return Buffer.concat([bytes], size);
}

function digest(seed: string | number): Buffer {
  return createHash('sha256').update(String(seed)).digest();
}
