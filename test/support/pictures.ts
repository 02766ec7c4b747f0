import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Creates a valid PNG of 8 × 1 pixels. Different seeds create different files. */
export function png(seed: string | number = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(8, 0); // width
  header.writeUInt32BE(1, 4); // height
  header.writeUInt8(8, 8); // bits per channel
  header.writeUInt8(2, 9); // RGB
  const scanline = Buffer.concat([Buffer.from([0]), digest(seed).subarray(0, 24)]);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(scanline)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Creates a file of this size that starts like a PNG and cannot be compressed. */
export function noisyPng(size: number): Buffer {
  return Buffer.concat([PNG_SIGNATURE, randomBytes(size - PNG_SIGNATURE.length)]);
}

/** Creates a file that starts like a JPEG. Its bytes depend on the seed. */
export function jpeg(seed: string | number = 0): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), digest(seed), Buffer.from('ffd9', 'hex')]);
}

/** Creates an SVG with a script, which an attacker could name `.png`. */
export function svgNamedPng(): Buffer {
  return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
}

/** Pads a file with zeros to `size` bytes. Decoders ignore bytes after the end of an image. */
export function padded(bytes: Buffer, size: number): Buffer {
  if (size < bytes.length) throw new RangeError(`the file has ${bytes.length} bytes already`);
  return Buffer.concat([bytes], size);
}

function digest(seed: string | number): Buffer {
  return createHash('sha256').update(String(seed)).digest();
}

/** Creates a chunk with its length and checksum. */
function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const typeAndData = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, checksum]);
}
