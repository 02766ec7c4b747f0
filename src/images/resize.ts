import type { JpegOptions, Sharp } from 'sharp';
import { readFile } from 'node:fs/promises';
import { errorMessage } from '../common/errors/error-info.js';
import { type ImageFile, MAX_IMAGE_BYTES } from './image-host.js';
import { mayHaveMetadata, removeMetadata } from './image-metadata.js';

/** Largest width and height of a stored image. */
const MAX_SIDE = 2000;
/** Enough for the camera of a phone. More pixels would take too much time. */
const MAX_PIXELS = 110_000_000;
/** Limit for images that libvips keeps in memory as a whole: progressive ones, and PNGs to turn upright. */
const MAX_PIXELS_IN_MEMORY = 25_000_000;
const TIMEOUT = { seconds: 10 };
const SHRINK = { fit: 'inside', withoutEnlargement: true } as const;
/** Half the size of the default, for lists on slow phones. The first packets of a connection then contain a whole picture. */
const LIST_JPEG: JpegOptions = { quality: 70, mozjpeg: true };

/**
 * Returns the image upright, at most 2,000 px wide and high, in sRGB and without metadata. Images that are small enough, are in
 * RGB or gray and have no metadata are returned unchanged. An image that has too many pixels, or takes too long, loses only its
 * metadata, except the orientation and the color profile.
 * @throws Error if the image cannot be decoded
 */
export async function normalizeImage(image: ImageFile): Promise<ImageFile> {
  const { metadata, isTooLarge, upright } = await open(image);
  if (isTooLarge) return removeMetadata(image, metadata.orientation);
  // An image without metadata is upright, because the orientation is metadata.
  const isSmall = Math.max(metadata.width, metadata.height) <= MAX_SIDE;
  if (isSmall && metadata.space !== 'cmyk' && !mayHaveMetadata(image)) return image;
  try {
    const smaller = upright.resize({ ...SHRINK, width: MAX_SIDE, height: MAX_SIDE });
    return { ...image, bytes: await encode(image, smaller) };
  } catch (error) {
    if (!errorMessage(error).startsWith('timeout')) throw error;
    return removeMetadata(image, metadata.orientation);
  }
}

/** Returns an image with at most this width. */
export async function shrinkImage(path: string, format: ImageFile['format'], width: number): Promise<Buffer> {
  const image = { bytes: await readFile(path), format };
  const { metadata, isTooLarge, upright } = await open(image);
  if (isTooLarge) throw new Error(`the image has ${metadata.width} x ${metadata.height} pixels`);
  if (metadata.autoOrient.width <= width) return image.bytes;
  return encode(image, upright.resize({ ...SHRINK, width }), LIST_JPEG);
}

/** Reads the header of an image. `upright` decodes nothing before `toBuffer`. */
async function open({ bytes }: ImageFile) {
  // Load the library with the first image, because it would delay every start.
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  // `failOn: none` decodes as much of a damaged photo as browsers show, and so removes its metadata too. The limit below
  // replaces that of sharp, which would also reject reading the header.
  const options = { limitInputPixels: false, failOn: 'none' } as const;
  const metadata = await sharp(bytes, options).metadata();
  const isKeptInMemory =
    metadata.isProgressive || (metadata.format === 'png' && (metadata.orientation ?? 1) > 1);
  const isTooLarge = metadata.width * metadata.height > (isKeptInMemory ? MAX_PIXELS_IN_MEMORY : MAX_PIXELS);
  return { metadata, isTooLarge, upright: sharp(bytes, options).timeout(TIMEOUT).autoOrient() };
}

async function encode({ format }: ImageFile, pipeline: Sharp, jpeg?: JpegOptions): Promise<Buffer> {
  if (format === 'jpg') return pipeline.jpeg(jpeg).toBuffer();
  const bytes = await pipeline.png().toBuffer();
  // A photo in a PNG can exceed the limit. 256 colors need one byte for each pixel. The default effort takes five times as long for
  // a file that is 6 % smaller.
  return bytes.length <= MAX_IMAGE_BYTES ? bytes : pipeline.png({ palette: true, effort: 3 }).toBuffer();
}
