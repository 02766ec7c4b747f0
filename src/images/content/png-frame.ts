import { BoundedInflate } from './bounded-inflate.js';
import { demand } from './not-a-picture.js';

/** What IHDR says (PNG, third edition, 11.2.1). */
export interface PngHeader {
  readonly width: number;
  readonly height: number;
  readonly colourType: number;
  readonly bitDepth: number;
  readonly isInterlaced: boolean;
}

/** Channels and allowed bit depths by colour type (PNG, table 12). */
const COLOUR_TYPES: Readonly<Partial<Record<number, { channels: number; depths: readonly number[] }>>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
};

/** First column and row, and the steps, of the seven passes of Adam7 (PNG, 8.1). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const WHOLE = [[0, 0, 1, 1]] as const;

export function isColourTypeAllowed({ colourType, bitDepth }: PngHeader): boolean {
  return COLOUR_TYPES[colourType]?.depths.includes(bitDepth) === true;
}

/** Bytes of the filtered rows of a frame, over all passes. */
function rowBytes(header: PngHeader, width: number, height: number): number {
  const bitsPerPixel = (COLOUR_TYPES[header.colourType]?.channels ?? 0) * header.bitDepth;
  let bytes = 0;
  for (const [column, row, columnStep, rowStep] of header.isInterlaced ? ADAM7 : WHOLE) {
    const columns = Math.ceil((width - column) / columnStep);
    const rows = Math.ceil((height - row) / rowStep);
    if (columns > 0 && rows > 0) bytes += rows * (1 + Math.ceil((columns * bitsPerPixel) / 8));
  }
  return bytes;
}

/** The pixels of one frame, which must inflate to exactly what its dimensions ask for. */
export class PngFrame {
  readonly #size: number;
  readonly #pixels: BoundedInflate;

  constructor(header: PngHeader, width = header.width, height = header.height) {
    this.#size = rowBytes(header, width, height);
    this.#pixels = new BoundedInflate(this.#size);
  }

  /** @throws NotAPicture */
  write(data: Buffer): Promise<void> {
    return this.#pixels.write(data);
  }

  /** @throws NotAPicture when pixels are missing */
  async end(): Promise<void> {
    demand((await this.#pixels.end()) === this.#size, 'pixels are missing');
  }

  destroy(): void {
    this.#pixels.destroy();
  }
}
