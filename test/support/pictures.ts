import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';

/** PNG of one gray pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

/** Creates a valid PNG without metadata. Different seeds create different files: the size of a pixel depends on the seed. */
export function createPng(seed: string | number = 0): Buffer {
  const size = digest(seed).subarray(0, 9);
  // PNG forbids sizes of 2^31 and more. The last byte is the unit: none.
  for (const at of [0, 4]) size.writeUInt32BE(size.readUInt32BE(at) >>> 1, at);
  size[8] = 0;
  return insertPart(PNG, 'pHYs', size);
}

/** Creates a file of this size that starts like a PNG and cannot be compressed. */
export function createNoisyPng(size: number): Buffer {
  return Buffer.concat([PNG.subarray(0, 8), randomBytes(size - 8)]);
}

/** Creates a file that starts like a JPEG. Its bytes depend on the seed. */
export function createJpeg(seed: string | number = 0): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), digest(seed), Buffer.from('ffd9', 'hex')]);
}

/** SVG with a script, which tests upload under the name of a PNG. */
export const SVG_WITH_SCRIPT = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
);

/** Pads a file with zeros to `size` bytes. */
export function padTo(bytes: Buffer, size: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
}

function digest(seed: string | number): Buffer {
  return createHash('sha256').update(String(seed)).digest();
}

export const PHOTO_EXIF = { IFD0: { Make: 'Phone' }, IFD3: { GPSLatitude: '6/1 12/1 0/1' } };

let photo: Promise<Buffer> | undefined;

/**
 * Returns a noisy JPEG like the photo of a phone. The metadata contains the camera, the place, and an orientation that turns the
 * image to 3,000 x 4,000 px. Renders the image once.
 */
export function createPhoto(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 10 } as const;
  return (photo ??= sharp({ create: { width: 4000, height: 3000, channels: 3, background: 'brown', noise } })
    .withExif(PHOTO_EXIF)
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 60 })
    .toBuffer());
}

/** Creates a PNG of one color with transparency, and the metadata of `createPhoto`. */
export function createFlatPhoto(): Promise<Buffer> {
  return sharp({ create: { width: 4000, height: 3000, channels: 4, background: '#8b4513aa' } })
    .withExif(PHOTO_EXIF)
    .withMetadata({ orientation: 6 })
    .png()
    .toBuffer();
}

/** Creates a PNG whose header promises 400 megapixels. */
export function createBomb(): Buffer {
  const bytes = createPng('bomb');
  bytes.writeUInt32BE(20_000, 16);
  bytes.writeUInt32BE(20_000, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
}

/**
 * Inserts a segment into a JPEG, or a chunk into a PNG, before the pixels.
 * @param kind marker of the segment, or type of the chunk
 */
export function insertPart(image: Buffer, kind: number | string, content: string | Buffer): Buffer {
  const length = Buffer.alloc(4);
  if (typeof kind === 'number') {
    length.writeUInt16BE(content.length + 2);
    const segment = [Buffer.from([0xff, kind]), length.subarray(0, 2), Buffer.from(content)];
    return Buffer.concat([image.subarray(0, 2), ...segment, image.subarray(2)]);
  }
  const body = Buffer.concat([Buffer.from(kind), Buffer.from(content)]);
  length.writeUInt32BE(content.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  // The first chunk, IHDR, ends after 33 bytes.
  return Buffer.concat([image.subarray(0, 33), length, body, checksum, image.subarray(33)]);
}
