import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** A valid PNG of 8 × 1 pixels. Different seeds give different colours, thus different files. */
export function png(seed: string | number = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(8, 0); // width
  header.writeUInt32BE(1, 4); // height
  header.writeUInt8(8, 8); // bits a channel
  header.writeUInt8(2, 9); // RGB
  const scanline = Buffer.concat([Buffer.from([0]), digest(seed).subarray(0, 24)]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(scanline)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A valid PNG of `width` × `height` noisy pixels, which no compression makes smaller than 3 bytes each. */
export function noisyPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8); // bits a channel
  header.writeUInt8(2, 9); // RGB
  const rows = randomBytes(height * (1 + 3 * width));
  for (let row = 0; row < height; row += 1) rows[row * (1 + 3 * width)] = 0; // no filter
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows, { level: 0 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** An animated PNG of one frame: a PNG with a control chunk (PNG 3rd edition, 11.3.6.1) before its data. */
export function animatedPng(seed: string | number = 0): Buffer {
  const still = png(seed);
  const headerEnd = 8 + 25; // signature, IHDR
  const control = Buffer.alloc(8);
  control.writeUInt32BE(1, 0); // frames
  return Buffer.concat([still.subarray(0, headerEnd), pngChunk('acTL', control), still.subarray(headerEnd)]);
}

/** A valid baseline JPEG of 8 × 8 grey pixels. The seed stands in a comment, thus files differ. */
export function jpeg(seed: string | number = 0): Buffer {
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    jpegSegment(0xe0, Buffer.from('4a46494600010100000100010000', 'hex')), // JFIF 1.1, no thumbnail
    jpegSegment(0xfe, Buffer.from(digest(seed).toString('hex'), 'ascii')),
    jpegSegment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])), // quantization table 0
    jpegSegment(0xc0, Buffer.from('080008000801011100', 'hex')), // 8 bits, 8 × 8, one component
    jpegSegment(0xc4, huffmanTable(0x00)), // DC table 0: code "0" is "no difference"
    jpegSegment(0xc4, huffmanTable(0x10)), // AC table 0: code "0" is "end of block"
    jpegSegment(0xda, Buffer.from('010100003f00', 'hex')),
    Buffer.from('3fffd9', 'hex'), // bits 00, padding, end of image
  ]);
}

/** An SVG with a script: what an attacker names `.png`. */
export function svgNamedPng(): Buffer {
  return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
}

/** An HTML page: what an attacker names `.png`. */
export function htmlNamedPng(): Buffer {
  return Buffer.from('<!doctype html><html><body><script>alert(1)</script></body></html>');
}

/** A PNG that ends within its header chunk: recognised by its first bytes, displayed by nobody. */
export function truncatedPng(): Buffer {
  return png('truncated').subarray(0, 20);
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
export function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const typeAndData = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, checksum]);
}

/** A segment with its marker and length. */
export function jpegSegment(marker: number, data: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([header, data]);
}

/** A table with one code, of one bit, for symbol 0. */
function huffmanTable(classAndId: number): Buffer {
  const codesPerLength = Buffer.alloc(16);
  codesPerLength.writeUInt8(1, 0);
  return Buffer.concat([Buffer.from([classAndId]), codesPerLength, Buffer.from([0])]);
}
