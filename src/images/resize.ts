import type { JpegOptions, Metadata, Sharp } from 'sharp';
import { readFile } from 'node:fs/promises';
import { FairQueue } from '../common/fair-queue.js';
import type { ImageFile } from './image-host.js';
import { hasMetadata } from './image-metadata.js';

/** Largest width and height of a stored image. */
const MAX_SIDE = 2000;
const MAX_BYTES = 5 * 1024 * 1024;
/** Enough for the camera of a phone. More pixels would take too much time. */
const MAX_PIXELS = 50_000_000;
/** Limit for images that libvips keeps in memory as a whole: progressive ones, and PNGs to turn upright. */
const MAX_PIXELS_IN_MEMORY = 16_000_000;
const TIMEOUT = { seconds: 10 };

/**
 * Uploads and downloads each decode one image at a time, because it takes up to 130 MB of memory and a processor core. Several
 * requests can wait for one image, so its processing does not end with a request.
 */
const uploads = new FairQueue(1, 100);
const downloads = new FairQueue(1, 200);

/**
 * Returns the image upright, at most 2,000 px wide and high, in sRGB and without metadata. An image that is already so is
 * returned unchanged.
 * @throws Error if the image cannot be decoded or has too many pixels
 */
export function normalizeImage(image: ImageFile): Promise<ImageFile> {
  return uploads.run(async () => {
    const { metadata, decode } = await open(image);
    // The orientation is part of the metadata.
    if (!hasMetadata(image) && Math.max(metadata.width, metadata.height) <= MAX_SIDE) return image;
    const bytes = await encode(image, () =>
      decode().resize({ ...SHRINK, width: MAX_SIDE, height: MAX_SIDE }),
    );
    return { ...image, bytes };
  });
}

/** Returns the image of a file with at most this width. Throws Error if the image cannot be decoded or has too many pixels. */
export function shrinkImage(path: string, format: ImageFile['format'], width: number): Promise<Buffer> {
  return downloads.run(async () => {
    const image = { bytes: await readFile(path), format };
    const { metadata, decode } = await open(image);
    if (metadata.autoOrient.width <= width) return image.bytes;
    return encode(image, () => decode().resize({ ...SHRINK, width }), LIST_JPEG);
  });
}

/** Half the size of the default, for lists on slow phones. The first packets of a connection then contain a whole picture. */
const LIST_JPEG: JpegOptions = { quality: 70, mozjpeg: true };
const SHRINK = { fit: 'inside', withoutEnlargement: true } as const;

/** Reads the header of an image. `decode` begins to decode the image and turns it upright. */
async function open({ bytes }: ImageFile): Promise<{ metadata: Metadata; decode: () => Sharp }> {
  // Load the library with the first image, because it would delay every start.
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  // `failOn: none` decodes as much of a damaged photo as browsers show, and so removes its metadata too.
  const options = { limitInputPixels: MAX_PIXELS, failOn: 'none' } as const;
  const metadata = await sharp(bytes, options).metadata();
  const isKeptInMemory =
    metadata.isProgressive || (metadata.format === 'png' && (metadata.orientation ?? 1) > 1);
  if (metadata.width * metadata.height > (isKeptInMemory ? MAX_PIXELS_IN_MEMORY : MAX_PIXELS))
    throw new Error(`the image has ${metadata.width} x ${metadata.height} pixels`);
  return { metadata, decode: () => sharp(bytes, options).timeout(TIMEOUT).autoOrient() };
}

async function encode({ format }: ImageFile, decode: () => Sharp, jpeg?: JpegOptions): Promise<Buffer> {
  if (format === 'jpg') return decode().jpeg(jpeg).toBuffer();
  const bytes = await decode().png().toBuffer();
  // A photo in a PNG can exceed the limit. 256 colors need one byte for each pixel.
  return bytes.length <= MAX_BYTES ? bytes : decode().png({ palette: true }).toBuffer();
}
