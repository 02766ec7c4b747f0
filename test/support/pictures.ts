import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** A valid PNG of 8 × 1 pixels. Different seeds give different colours, thus different files. */
export function png(seed: string | number = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(8, 0); // width
  header.writeUInt32BE(1, 4); // height
  header.writeUInt8(8, 8); // bits a channel
  header.writeUInt8(2, 9); // RGB
  const scanline = Buffer.concat([Buffer.from([0]), digest(seed).subarray(0, 24)]);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(scanline)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A file of this size that the service takes for a PNG and that no compression makes smaller. */
export function noisyPng(size: number): Buffer {
  return Buffer.concat([PNG_SIGNATURE, randomBytes(size - PNG_SIGNATURE.length)]);
}

/** A file that the service takes for a JPEG; its bytes follow from the seed. */
export function jpeg(seed: string | number = 0): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), digest(seed), Buffer.from('ffd9', 'hex')]);
}

/** An SVG with a script: what an attacker names `.png`. */
export function svgNamedPng(): Buffer {
  return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
}

/** An HTML page: what an attacker names `.png`. */
export function htmlNamedPng(): Buffer {
  return Buffer.from('<!doctype html><html><body><script>alert(1)</script></body></html>');
}

/** The file followed by zeros up to `size` bytes. Decoders ignore what follows the end of an image. */
export function padded(bytes: Buffer, size: number): Buffer {
  if (size < bytes.length) throw new RangeError(`the file has ${bytes.length} bytes already`);
  return Buffer.concat([bytes], size);
}

function digest(seed: string | number): Buffer {
  return createHash('sha256').update(String(seed)).digest();
}

/** A chunk with its length and sum. */
function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const typeAndData = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, checksum]);
}
