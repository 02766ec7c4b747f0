import { Buffer } from 'node:buffer';

const ENTROPY_BYTES = 30_000;
/** Blocks of 8 × 8 grey pixels, each of which takes two bits: "no difference" and "end of block". */
const BLOCKS_A_SIDE = Math.floor(Math.sqrt((ENTROPY_BYTES * 8) / 2));

/** A whole baseline JPEG (ITU-T T.81) of 30 KB, nearly all of it data of a scan, as in a photograph. */
export function jpegOf30KB() {
  const frame = Buffer.from('080000000001011100', 'hex');
  frame.writeUInt16BE(BLOCKS_A_SIDE * 8, 1);
  frame.writeUInt16BE(BLOCKS_A_SIDE * 8, 3);
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    segment(0xe0, Buffer.from('4a46494600010100000100010000', 'hex')), // JFIF 1.1
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])), // quantization table 0
    segment(0xc0, frame), // 8 bits, one component
    segment(0xc4, huffmanTable(0x00)), // DC
    segment(0xc4, huffmanTable(0x10)), // AC
    segment(0xda, Buffer.from('010100003f00', 'hex')), // start of scan
    Buffer.alloc(ENTROPY_BYTES),
    Buffer.from('ffd9', 'hex'), // end of image
  ]);
}

function segment(marker, data) {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length + 2);
  return Buffer.concat([Buffer.from([0xff, marker]), length, data]);
}

/** One code, of one bit, for symbol 0. */
function huffmanTable(classAndId) {
  const codesOfLength = Buffer.alloc(16);
  codesOfLength.writeUInt8(1);
  return Buffer.concat([Buffer.from([classAndId]), codesOfLength, Buffer.from([0])]);
}
