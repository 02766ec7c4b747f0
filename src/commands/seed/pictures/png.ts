import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Canvas } from './canvas.js';

const compress = promisify(deflate);

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const CHANNELS = 3;
const PAETH = 4;

/** Writes a canvas as a PNG of 8-bit RGB (https://www.w3.org/TR/png-3/). */
export async function encodePng({ width, height, pixels }: Canvas): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // bits a channel; RGB
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', await compress(filtered(pixels, width * CHANNELS, height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Each row as its differences from what its neighbours foretell, by the filter that suits gradients (the same, section
 * 9.4). The lowest bit of a channel, which nobody sees, is dropped: it is half of the file.
 */
function filtered(pixels: Uint8Array, stride: number, height: number): Buffer {
  const result = Buffer.alloc((stride + 1) * height);
  const even = pixels.map((value) => value & 0xfe);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1);
    result[start] = PAETH;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < CHANNELS ? 0 : (even[at - CHANNELS] ?? 0);
      const up = y === 0 ? 0 : (even[at - stride] ?? 0);
      const corner = x < CHANNELS || y === 0 ? 0 : (even[at - stride - CHANNELS] ?? 0);
      result[start + 1 + x] = (even[at] ?? 0) - paeth(left, up, corner);
    }
  }
  return result;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const typeAndData = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, checksum]);
}
