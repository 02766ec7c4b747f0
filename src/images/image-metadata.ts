import { crc32 } from 'node:zlib';
import type { ImageFile } from './image-host.js';

/** Segment of a JPEG or chunk of a PNG. */
interface Part {
  readonly bytes: Buffer;
  /** True for a part that is or may contain metadata: the place where a photo was taken, a comment, a color profile. */
  readonly isMetadata: boolean;
  /** True for metadata that an image keeps if it is not decoded. Without a color profile, for example, its colors would change. */
  readonly isKept?: boolean;
}

/** First marker of a JPEG segment with a length. */
const START_OF_FRAME = 0xc0;
/** JFIF header. */
const APP0 = 0xe0;
/** Color profile, among other metadata. */
const APP2 = 0xe2;
const PROFILE_NAME = 'ICC_PROFILE\0';
/** Color transform of Adobe. */
const APP14 = 0xee;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/** Chunks of a PNG with pixels, colors or the frames of an animation. */
const PIXEL_CHUNKS = /^(IHDR|PLTE|IDAT|IEND|tRNS|cHRM|gAMA|sRGB|sBIT|bKGD|pHYs|acTL|fcTL|fdAT)$/;

/** More parts than cameras and editors write. */
const MAX_PARTS = 10_000;

/** Returns false for an image that is certainly without metadata. Bytes that follow the image are metadata too. */
export function mayHaveMetadata(image: ImageFile): boolean {
  return splitImage(image).some(({ isMetadata }) => isMetadata);
}

/**
 * Removes the metadata except color profiles, without decoding the image. Keeps bytes that cannot be divided into parts.
 * @param orientation EXIF orientation, which stays: 1 for an upright image
 */
export function removeMetadata(image: ImageFile, orientation = 1): ImageFile {
  const parts = splitImage(image).filter((part) => !part.isMetadata || part.isKept);
  const kept = parts.map(({ bytes }) => bytes);
  // A PNG begins with its signature and the chunk IHDR.
  if (orientation > 1)
    kept.splice(image.format === 'png' ? 2 : 1, 0, createOrientation(image.format, orientation));
  return { ...image, bytes: Buffer.concat(kept) };
}

function splitImage({ bytes, format }: ImageFile): Part[] {
  return format === 'png' ? splitPng(bytes) : splitJpeg(bytes);
}

function splitPng(bytes: Buffer): Part[] {
  const parts: Part[] = [{ bytes: bytes.subarray(0, 8), isMetadata: false }];
  let at = 8;
  while (at + 8 <= bytes.length && parts.length < MAX_PARTS) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    // IEND contains nothing, whatever its length says.
    const end = at + 12 + (type === 'IEND' ? 0 : bytes.readUInt32BE(at));
    const isMetadata = !PIXEL_CHUNKS.test(type);
    parts.push({ bytes: bytes.subarray(at, end), isMetadata, isKept: type === 'iCCP' });
    if (type === 'IEND') return [...parts, toTrailer(bytes.subarray(end))];
    at = end;
  }
  return [...parts, toRest(bytes.subarray(at))];
}

function splitJpeg(bytes: Buffer): Part[] {
  const parts: Part[] = [{ bytes: bytes.subarray(0, 2), isMetadata: false }];
  let at = 2;
  while (at + 2 <= bytes.length && parts.length < MAX_PARTS) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1; // Fill bytes can precede a marker.
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker < START_OF_FRAME) break;
    if (marker === END_OF_IMAGE) {
      const last = { bytes: bytes.subarray(at, at + 2), isMetadata: false };
      return [...parts, last, toTrailer(bytes.subarray(at + 2))];
    }
    if (at + 4 > bytes.length) break;
    let end = at + 2 + bytes.readUInt16BE(at + 2);
    if (marker === START_OF_SCAN) end = findMarkerAfterPixels(bytes, end);
    const segment = bytes.subarray(at, end);
    parts.push({
      bytes: segment,
      isMetadata: marker > APP0 && marker !== APP14, // other APPn segments and comments
      isKept: marker === APP2 && segment.toString('latin1', 4, 4 + PROFILE_NAME.length) === PROFILE_NAME,
    });
    at = end;
  }
  return [...parts, toRest(bytes.subarray(at))];
}

/** Returns the bytes that follow an image, for example a second image, as a part. */
function toTrailer(bytes: Buffer): Part {
  return { bytes, isMetadata: bytes.length > 0 };
}

/** Returns the rest of an image that ends unexpectedly or has too many parts. The rest may contain metadata and pixels. */
function toRest(bytes: Buffer): Part {
  return { bytes, isMetadata: true, isKept: true };
}

/** Returns the position of the marker that follows the pixels. FF00, and the markers D0 to D7, are among the pixels. */
function findMarkerAfterPixels(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return at;
  }
  return bytes.length;
}

/** Creates a part with EXIF data that contain only an orientation. */
function createOrientation(format: ImageFile['format'], orientation: number): Buffer {
  // TIFF, big-endian: one entry with the tag 0x112 (orientation), the type 3 (16 bits), the count 1 and the value.
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  if (format === 'jpg') {
    const content = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
    return Buffer.concat([Buffer.from([0xff, 0xe1, 0, content.length + 2]), content]);
  }
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from('eXIf'), tiff, Buffer.alloc(4)]);
  chunk.writeUInt32BE(tiff.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
