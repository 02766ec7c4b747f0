import { BoundedInflate } from './bounded-inflate.js';
import type { ByteReader } from './byte-reader.js';
import { isShowable, MAX_PIXELS } from './limits.js';
import { demand } from './not-a-picture.js';
import { PngChunk } from './png-chunk.js';
import { isColourTypeAllowed, PngFrame, type PngHeader } from './png-frame.js';

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** As libpng's PNG_USER_CHUNK_CACHE_MAX. */
const MAX_ANCILLARY_CHUNKS = 1000;
/** Most bytes that texts and colour profiles of one file inflate to; libpng's PNG_USER_CHUNK_MALLOC_MAX for one. */
const MAX_INFLATED_METADATA = 8_000_000;
/** Longest keyword or language of a text; the specification allows a keyword 79 bytes. */
const MAX_KEYWORD = 1000;
const COMPRESSED = new Set(['iCCP', 'zTXt', 'iTXt']);

/**
 * Reads a PNG or an animated PNG (W3C PNG, third edition) after its signature up to the end of its IEND: every chunk
 * is whole, and the pixels of each frame inflate to exactly as many bytes as the dimensions ask for. Nothing is kept.
 *
 * @throws NotAPicture
 */
export async function readPng(reader: ByteReader): Promise<void> {
  const picture = new Png(reader);
  try {
    await picture.read();
  } finally {
    picture.close();
  }
}

class Png {
  readonly #reader: ByteReader;
  #frame: PngFrame | null = null;
  #hasPalette = false;
  #hasPixels = false;
  /** Pixel chunks of one frame follow each other; true once another chunk came. */
  #isFrameOver = false;
  /** True once a frame control came after the pixels of the still picture. */
  #isAnimated = false;
  #pixels = 0;
  #ancillaryChunks = 0;
  #metadataLeft = MAX_INFLATED_METADATA;

  constructor(reader: ByteReader) {
    this.#reader = reader;
  }

  async read(): Promise<void> {
    const header = await this.#header();
    this.#pixels = header.width * header.height;
    for (;;) {
      const chunk = await PngChunk.next(this.#reader);
      if (chunk.type !== 'IDAT' && this.#hasPixels) this.#isFrameOver = true;
      await this.#read(chunk, header);
      await chunk.end();
      if (chunk.type === 'IEND') break;
    }
    demand(this.#hasPixels, 'no pixels');
    await this.#endFrame();
  }

  close(): void {
    this.#frame?.destroy();
  }

  async #header(): Promise<PngHeader> {
    const chunk = await PngChunk.next(this.#reader);
    demand(chunk.type === 'IHDR' && chunk.length === 13, 'no header');
    const data = Buffer.from(await chunk.exactly(13));
    const header: PngHeader = {
      width: data.readUInt32BE(0),
      height: data.readUInt32BE(4),
      bitDepth: data.readUInt8(8),
      colourType: data.readUInt8(9),
      isInterlaced: data.readUInt8(12) === 1,
    };
    demand(isShowable(header.width, header.height), 'dimensions');
    demand(isColourTypeAllowed(header), 'a colour type that does not exist');
    // Compression and filter have one method, interlacing two.
    demand(data.readUInt8(10) === 0 && data.readUInt8(11) === 0 && data.readUInt8(12) <= 1, 'a method');
    await chunk.end();
    return header;
  }

  async #read(chunk: PngChunk, header: PngHeader): Promise<void> {
    switch (chunk.type) {
      case 'PLTE':
        demand(chunk.length % 3 === 0 && chunk.length > 0 && chunk.length <= 768, 'a palette');
        demand(!this.#hasPixels && !this.#hasPalette, 'a late palette');
        this.#hasPalette = true;
        return;
      case 'IDAT':
        demand(!this.#isFrameOver, 'scattered pixels');
        demand(header.colourType !== 3 || this.#hasPalette, 'no palette');
        this.#hasPixels = true;
        await this.#readPixels(chunk, (this.#frame ??= new PngFrame(header)));
        return;
      case 'IEND':
        demand(chunk.length === 0, 'an end that goes on');
        return;
      case 'fcTL':
        await this.#readFrameControl(chunk, header);
        return;
      case 'fdAT':
        demand(this.#frame !== null && this.#isAnimated, 'a frame without its control');
        await chunk.exactly(4); // Sequence number.
        await this.#readPixels(chunk, this.#frame);
        return;
      default:
        demand(!chunk.isCritical, 'an unknown critical chunk');
        this.#ancillaryChunks += 1;
        demand(this.#ancillaryChunks <= MAX_ANCILLARY_CHUNKS, 'too many chunks');
        if (COMPRESSED.has(chunk.type)) await this.#readMetadata(chunk);
    }
  }

  async #readPixels(chunk: PngChunk, frame: PngFrame): Promise<void> {
    for (let piece = await chunk.some(); piece !== null; piece = await chunk.some()) await frame.write(piece);
  }

  /** Before the first pixels it only says that they are a frame; after them another one begins. */
  async #readFrameControl(chunk: PngChunk, header: PngHeader): Promise<void> {
    demand(chunk.length === 26, 'a frame control');
    const data = await chunk.exactly(26);
    const [width, height] = [data.readUInt32BE(4), data.readUInt32BE(8)];
    demand(isShowable(width, height), 'dimensions of a frame');
    demand(data.readUInt32BE(12) + width <= header.width, 'a frame too far right');
    demand(data.readUInt32BE(16) + height <= header.height, 'a frame too far down');
    if (!this.#hasPixels) return;
    this.#isAnimated = true;
    this.#pixels += width * height;
    demand(this.#pixels <= MAX_PIXELS, 'too many pixels');
    await this.#endFrame();
    this.#frame = new PngFrame(header, width, height);
  }

  async #endFrame(): Promise<void> {
    await this.#frame?.end();
    this.#frame?.destroy();
    this.#frame = null;
  }

  /** Texts and profiles that are compressed (PNG, 11.3.2.3, 11.3.3): whole, and no bomb. */
  async #readMetadata(chunk: PngChunk): Promise<void> {
    await chunk.skipText(MAX_KEYWORD);
    let isCompressed = true;
    if (chunk.type === 'iTXt') {
      isCompressed = (await chunk.exactly(2))[0] === 1;
      await chunk.skipText(MAX_KEYWORD); // Language.
      await chunk.skipText(MAX_KEYWORD); // Keyword in that language.
    } else {
      await chunk.exactly(1); // Compression method; there is one.
    }
    if (!isCompressed) return;
    const text = new BoundedInflate(this.#metadataLeft);
    try {
      for (let piece = await chunk.some(); piece !== null; piece = await chunk.some())
        await text.write(piece);
      this.#metadataLeft -= await text.end();
    } finally {
      text.destroy();
    }
  }
}
