import { ByteReader } from './byte-reader.js';
import { ForeignContent } from './foreign-content.js';
import { JPEG_SIGNATURE, readJpeg } from './jpeg.js';
import { NotAPicture } from './not-a-picture.js';
import { PNG_SIGNATURE, readPng } from './png.js';

/** Long enough for every signature that may stand after a picture. */
const TRAILER_START = 8;

/**
 * Judges a file by its content alone (docs/decisions/10-pictures-are-judged-by-content.md): a whole PNG or JPEG of at
 * most 50 megapixels that nothing else would be read from. Works in constant memory and decodes no pixel.
 *
 * @param chunks the file in order; each is used up before the next is asked for
 * @returns what it is, or null
 * @throws whatever reading the chunks throws
 */
export async function pictureFormat(chunks: AsyncIterable<Buffer>): Promise<'png' | 'jpg' | null> {
  const foreign = new ForeignContent();
  const reader = new ByteReader(chunks, (chunk) => {
    foreign.see(chunk);
  });
  try {
    const format = await readPicture(reader);
    foreign.seeTrailer(await reader.upTo(TRAILER_START));
    await reader.drain();
    return format;
  } catch (error) {
    if (error instanceof NotAPicture) return null;
    throw error;
  } finally {
    await reader.close();
  }
}

/** Goes just past the end of the picture. */
async function readPicture(reader: ByteReader): Promise<'png' | 'jpg'> {
  const start = Buffer.from(await reader.exactly(JPEG_SIGNATURE.length));
  if (start.equals(JPEG_SIGNATURE)) {
    await readJpeg(reader);
    return 'jpg';
  }
  const signature = Buffer.concat([
    start,
    await reader.exactly(PNG_SIGNATURE.length - JPEG_SIGNATURE.length),
  ]);
  if (!signature.equals(PNG_SIGNATURE)) throw new NotAPicture('no signature');
  await readPng(reader);
  return 'png';
}
