import type { ImageFile } from './image-host.js';

/** First marker of a JPEG segment with a length. */
const START_OF_FRAME = 0xc0;
/** Segments of a JPEG that a decoder may need: APP0 (JFIF) and APP14 (Adobe). Other APPn segments and comments are metadata. */
const APP0 = 0xe0;
const APP14 = 0xee;
const APP15 = 0xef;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = Buffer.from('ffd9', 'hex');

/** Chunks of a PNG with pixels, colors or the frames of an animation. */
const PIXEL_CHUNKS = /^(IHDR|PLTE|IDAT|IEND|tRNS|cHRM|gAMA|sRGB|sBIT|bKGD|pHYs|acTL|fcTL|fdAT)$/;

/**
 * Returns true if the image has parts that are not needed to show it, for example the place where a photo was taken, a
 * comment or a color profile. Also returns true if the image ends unexpectedly, and for a JPEG that other bytes follow.
 */
export function hasMetadata({ bytes, format }: ImageFile): boolean {
  return format === 'png' ? hasPngMetadata(bytes) : hasJpegMetadata(bytes);
}

function hasPngMetadata(bytes: Buffer): boolean {
  for (let at = 8; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!PIXEL_CHUNKS.test(type)) return true;
    if (type === 'IEND') return false;
  }
  return true;
}

function hasJpegMetadata(bytes: Buffer): boolean {
  for (let at = 2; at + 4 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker < START_OF_FRAME || marker > APP15) return true;
    if (marker > APP0 && marker <= APP15 && marker !== APP14) return true;
    // Compressed pixels contain no end of image, so the first one is the end of this image.
    if (marker === START_OF_SCAN) return bytes.indexOf(END_OF_IMAGE, at) !== bytes.length - 2;
  }
  return true;
}
