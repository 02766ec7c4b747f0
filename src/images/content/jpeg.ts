import type { ByteReader } from './byte-reader.js';
import { isShowable } from './limits.js';
import { demand } from './not-a-picture.js';

/** Start of image. */
export const JPEG_SIGNATURE = Buffer.from('ffd8', 'hex');

/** Second bytes of the markers that matter here (ITU-T T.81, table B.1). */
const MARKER = { SOF0: 0xc0, SOF1: 0xc1, SOF2: 0xc2, DHT: 0xc4, DAC: 0xcc, SOI: 0xd8, EOI: 0xd9, SOS: 0xda };
/** A scan of a few bytes makes a decoder walk over all pixels; encoders make 10 or so. */
const MAX_SCANS = 100;

interface Frame {
  readonly isProgressive: boolean;
  readonly components: number;
  /** Blocks of 8 × 8 samples of the largest component. */
  readonly blocks: number;
}

/**
 * Reads a JPEG (ITU-T T.81) after its start of image up to its end of image: baseline, extended or progressive with
 * Huffman codes, which is what browsers show. Segments are whole, and there is data for as many blocks as the
 * dimensions ask for, as far as that can be told without decoding. Nothing is kept.
 *
 * @throws NotAPicture
 */
export async function readJpeg(reader: ByteReader): Promise<void> {
  let frame: Frame | null = null;
  let scans = 0;
  let dataBytes = 0;
  let marker = await nextMarker(reader);
  while (marker !== MARKER.EOI) {
    demand(marker !== MARKER.SOI && (marker < 0xd0 || marker > 0xd7) && marker > 0x01, 'a misplaced marker');
    const length = (await reader.exactly(2)).readUInt16BE(0) - 2;
    demand(length >= 0, 'a segment without a length');
    if (marker === MARKER.SOS) {
      demand(frame !== null, 'a scan without a frame');
      scans += 1;
      demand(scans <= MAX_SCANS, 'too many scans');
      await readScanHeader(reader, length, frame.components);
      const scan = await readEntropyCodedData(reader);
      dataBytes += scan.bytes;
      marker = scan.marker;
      continue;
    }
    if (isStartOfFrame(marker)) {
      demand(frame === null, 'two frames');
      frame = await readFrame(reader, marker, length);
    } else {
      await reader.skip(length);
    }
    marker = await nextMarker(reader);
  }
  demand(frame !== null && scans > 0, 'no scan');
  // The shortest code has one bit. A block takes two, of which a progressive scan may hold the first alone.
  demand(dataBytes * 8 >= frame.blocks * (frame.isProgressive ? 1 : 2), 'too little data for its dimensions');
}

function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![MARKER.DHT, 0xc8, MARKER.DAC].includes(marker);
}

/** Any number of 0xff may stand before a marker (B.1.1.2). */
async function nextMarker(reader: ByteReader): Promise<number> {
  demand((await reader.exactly(1))[0] === 0xff, 'no marker');
  return afterFill(reader);
}

async function afterFill(reader: ByteReader): Promise<number> {
  for (;;) {
    const byte = (await reader.exactly(1))[0] ?? 0;
    if (byte !== 0xff) return byte;
  }
}

/** Frame header (B.2.2). */
async function readFrame(reader: ByteReader, marker: number, length: number): Promise<Frame> {
  demand([MARKER.SOF0, MARKER.SOF1, MARKER.SOF2].includes(marker), 'a coding that browsers do not show');
  demand(length >= 6, 'a frame header');
  const head = await reader.exactly(6);
  const [precision, height, width, components] = [
    head.readUInt8(0),
    head.readUInt16BE(1),
    head.readUInt16BE(3),
    head.readUInt8(5),
  ];
  demand(precision === 8, 'samples that are not of 8 bits');
  // A height of 0 would be told after the first scan, which next to nobody writes or reads.
  demand(isShowable(width, height), 'dimensions');
  demand([1, 3, 4].includes(components) && length === 6 + 3 * components, 'components');
  const description = await reader.exactly(3 * components);
  for (let at = 1; at < description.length; at += 3) {
    const [horizontal, vertical] = [description.readUInt8(at) >> 4, description.readUInt8(at) & 15];
    demand(horizontal >= 1 && horizontal <= 4 && vertical >= 1 && vertical <= 4, 'a sampling factor');
    demand(description.readUInt8(at + 1) <= 3, 'a quantization table');
  }
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  return { isProgressive: marker === MARKER.SOF2, components, blocks };
}

/** Scan header (B.2.3). */
async function readScanHeader(reader: ByteReader, length: number, components: number): Promise<void> {
  demand(length >= 6, 'a scan header');
  const [count = 0] = await reader.exactly(1);
  demand(count >= 1 && count <= components && length === 4 + 2 * count, 'components of a scan');
  await reader.skip(length - 1);
}

/** Goes to the marker that ends the data: 0xff00 is the byte 0xff, and restart markers belong to it (B.1.1.5). */
async function readEntropyCodedData(reader: ByteReader): Promise<{ bytes: number; marker: number }> {
  for (let bytes = 0; ;) {
    bytes += await reader.skipPast(0xff);
    const marker = await afterFill(reader);
    if (marker === 0) bytes += 1;
    else if (marker < 0xd0 || marker > 0xd7) return { bytes, marker };
  }
}
