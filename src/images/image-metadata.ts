import { crc32 } from 'node:zlib';
import type { ImageFile } from './image-host.js';

/** Segment of a JPEG or chunk of a PNG. */
interface Part {
  readonly bytes: Buffer;
  /**
   * `metadata`: removed, for example a comment, a thumbnail or the place of a photo. `kept`: metadata or unknown bytes that
   * `removeMetadata` leaves, such as a color profile, without which the colors would change.
   */
  readonly kind: 'image' | 'kept' | 'metadata';
}

/** Lowest marker of a JPEG segment that this file reads. */
const LOWEST_MARKER = 0xc0;
/** JFIF header, or a thumbnail that follows the header. */
const APP0 = 0xe0;
/** Length of a JFIF header without a thumbnail. */
const JFIF_LENGTH = 18;
/** Color profile, among other metadata. */
const APP2 = 0xe2;
const PROFILE_NAME = 'ICC_PROFILE\0';
/** Color transform of Adobe. */
const APP14 = 0xee;
/** Length of Adobe's segment, which ends with the color transform. A longer segment also contains other data. */
const ADOBE_LENGTH = 16;
const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

/** Chunks of a PNG with pixels, colors or the frames of an animation. */
const IMAGE_CHUNKS = /^(IHDR|PLTE|IDAT|IEND|tRNS|cHRM|gAMA|sRGB|sBIT|bKGD|pHYs|acTL|fcTL|fdAT)$/;

/** More parts than cameras and editors write. */
const MAX_PARTS = 10_000;

/** Returns false for an image that is certainly without metadata. Bytes that follow the image are metadata too. */
export function mayHaveMetadata(image: ImageFile): boolean {
  return splitImage(image).some(({ kind }) => kind !== 'image');
}

/**
 * Removes the metadata except color profiles, without decoding the image. Keeps bytes that cannot be divided into parts.
 * @param orientation EXIF orientation, which stays: 1 for an upright image
 */
export function removeMetadata(image: ImageFile, orientation = 1): ImageFile {
  const parts = splitImage(image).filter(({ kind }) => kind !== 'metadata');
  const remaining = parts.map(({ bytes }) => bytes);
  // A PNG begins with its signature and the chunk IHDR.
  if (orientation > 1)
    remaining.splice(image.format === 'png' ? 2 : 1, 0, createOrientation(image.format, orientation));
  return { ...image, bytes: Buffer.concat(remaining) };
}

function splitImage({ bytes, format }: ImageFile): Part[] {
  return format === 'png' ? splitPng(bytes) : splitJpeg(bytes);
}

function splitPng(bytes: Buffer): Part[] {
  const parts: Part[] = [{ bytes: bytes.subarray(0, 8), kind: 'image' }];
  let at = 8;
  while (at + 8 <= bytes.length && parts.length < MAX_PARTS) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    // IEND contains nothing, whatever its length says.
    const end = at + 12 + (type === 'IEND' ? 0 : bytes.readUInt32BE(at));
    const kind = IMAGE_CHUNKS.test(type) ? 'image' : type === 'iCCP' ? 'kept' : 'metadata';
    parts.push({ bytes: bytes.subarray(at, end), kind });
    if (type === 'IEND') return [...parts, toTrailer(bytes.subarray(end))];
    at = end;
  }
  // The image ends unexpectedly or has too many parts. The rest may contain metadata and pixels.
  return [...parts, { bytes: bytes.subarray(at), kind: 'kept' }];
}

function splitJpeg(bytes: Buffer): Part[] {
  const parts: Part[] = [{ bytes: bytes.subarray(0, 2), kind: 'image' }];
  let at = 2;
  while (at + 2 <= bytes.length && parts.length < MAX_PARTS) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1; // Fill bytes can precede a marker.
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker < LOWEST_MARKER) break;
    if (marker === END_OF_IMAGE) {
      const last = { bytes: bytes.subarray(at, at + 2), kind: 'image' } as const;
      return [...parts, last, toTrailer(bytes.subarray(at + 2))];
    }
    if (at + 4 > bytes.length) break;
    let end = at + 2 + bytes.readUInt16BE(at + 2);
    if (marker === START_OF_SCAN) end = findMarkerAfterPixels(bytes, end);
    const segment = bytes.subarray(at, end);
    parts.push({ bytes: segment, kind: classifySegment(marker, segment) });
    at = end;
  }
  // The image ends unexpectedly or has too many parts. The rest may contain metadata and pixels.
  return [...parts, { bytes: bytes.subarray(at), kind: 'kept' }];
}

function classifySegment(marker: number, segment: Buffer): Part['kind'] {
  const isFormat =
    (marker === APP0 && segment.length === JFIF_LENGTH) ||
    (marker === APP14 && segment.length === ADOBE_LENGTH);
  if (marker < APP0 || isFormat) return 'image';
  const isProfile = segment.toString('latin1', 4, 4 + PROFILE_NAME.length) === PROFILE_NAME;
  return marker === APP2 && isProfile ? 'kept' : 'metadata';
}

/** Returns the bytes that follow an image, for example a second image, as a part. */
function toTrailer(bytes: Buffer): Part {
  return { bytes, kind: bytes.length > 0 ? 'metadata' : 'image' };
}

/** Returns the position of the marker that follows the pixels. FF00, and the markers D0 to D7, are among the pixels. */
function findMarkerAfterPixels(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return at;
  }
  return bytes.length;
}

/** Returns a JPEG segment or a PNG chunk with EXIF data that contain only an orientation. */
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
