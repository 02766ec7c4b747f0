import type { Progress } from '../../../config/side-by-side.js';
import { Random } from '../random.js';
import { baguettes, hearthLoaf, tinLoaf } from './breads.js';
import { buns, croissant, doughnuts } from './buns.js';
import { cupcakes, layers, rollCake, roundCake } from './cakes.js';
import { type Canvas, type Colour, colour } from './canvas.js';
import { encodePng } from './png.js';
import { MOODS, type Mood } from './scene.js';
import { balls, biscuits, tart } from './sweets.js';

/** What a picture shows; there are two of each. */
export type Motif =
  | 'tin loaf'
  | 'hearth loaf'
  | 'baguettes'
  | 'buns'
  | 'croissant'
  | 'doughnuts'
  | 'brown layers'
  | 'bright layers'
  | 'round cake'
  | 'cupcakes'
  | 'roll cake'
  | 'biscuits'
  | 'tart'
  | 'balls';

/** Paints one of the two pictures of a motif; the same every time. */
type Painter = (variant: 0 | 1, mood: Mood, random: Random) => Canvas;

const hues = (...hexes: readonly [string, ...string[]]): [Colour, ...Colour[]] => {
  const [first, ...others] = hexes;
  return [colour(first), ...others.map(colour)];
};

/** One of two colours. */
const either = (variant: 0 | 1, first: string, second: string): Colour =>
  colour(variant === 0 ? first : second);

const PAINTERS: Readonly<Record<Motif, Painter>> = {
  'tin loaf': (v, mood, random) =>
    tinLoaf(mood, either(v, '#c9813c', '#8f5a2c'), either(v, '#fbe9c6', '#e6c596'), random),
  'hearth loaf': (v, mood, random) =>
    hearthLoaf(mood, either(v, '#b5672a', '#8a4d22'), either(v, '#f6dcae', '#e9c795'), random),
  baguettes: (v, mood) => baguettes(mood, either(v, '#cf8a3f', '#b06a2c'), either(v, '#fae4b8', '#efcf9c')),
  buns: (v, mood, random) =>
    buns(mood, either(v, '#d08a3c', '#a85c26'), either(v, '#fff0cf', '#4a2412'), random),
  croissant: (v, mood) => croissant(mood, either(v, '#d18b3b', '#b36a29'), either(v, '#f8dca2', '#e9b974')),
  doughnuts: (v, mood, random) =>
    doughnuts(mood, either(v, '#6b3419', '#f0a3a0'), either(v, '#dda45e', '#d4954c'), random),
  'brown layers': (v, mood) =>
    layers(
      mood,
      v === 0 ? hues('#9a5523', '#f0c679') : hues('#5b2d17', '#c98a4b', '#7b4220'),
      v === 0 ? 18 : 15,
    ),
  'bright layers': (v, mood) =>
    layers(mood, v === 0 ? hues('#d94f5c', '#fff0dc', '#f6b4ae') : hues('#5f9e45', '#f8f2d4', '#9cc76b'), 9),
  'round cake': (v, mood) =>
    roundCake(mood, either(v, '#e4b26a', '#6a3a20'), either(v, '#6d351a', '#fbe3d2'), colour('#c52f33')),
  cupcakes: (v, mood) =>
    cupcakes(
      mood,
      either(v, '#c98846', '#6a3a1f'),
      either(v, '#fff1dc', '#f3c3b6'),
      either(v, '#c75b4a', '#8d5a3a'),
    ),
  'roll cake': (v, mood) =>
    rollCake(
      mood,
      either(v, '#f5d592', '#a8c475'),
      either(v, '#c23f3c', '#fff5e2'),
      either(v, '#d4944a', '#6f9448'),
    ),
  biscuits: (v, mood, random) =>
    biscuits(mood, either(v, '#f0c063', '#c98d52'), either(v, '#b1621d', '#5a2b14'), random),
  tart: (v, mood, random) =>
    tart(
      mood,
      either(v, '#d39a4f', '#b97b39'),
      v === 0 ? [colour('#d23b3b'), colour('#f2a93b')] : [colour('#4b3a70'), colour('#cf4456')],
      random,
    ),
  balls: (v, mood, random) =>
    balls(mood, either(v, '#6aa04a', '#d9983f'), either(v, '#fffaf0', '#fbe6b4'), random),
};

const MOTIFS = Object.keys(PAINTERS) as Motif[];

/** Which picture. */
export interface PictureName {
  readonly motif: Motif;
  readonly variant: 0 | 1;
}

/** Pictures of 640 × 480 pixels, as PNG files. */
export class Gallery {
  private constructor(private readonly files: ReadonlyMap<string, Buffer>) {}

  /**
   * Paints every picture that is named, each once: a third of a second of computing. They are painted one after the
   * other, with a turn of the event loop between two, before anybody waits for a connection.
   */
  static async of(names: Iterable<PictureName>, progress: Progress): Promise<Gallery> {
    const files = new Map<string, Buffer>();
    const wanted = new Map([...names].map((name) => [keyOf(name), name]));
    for (const [key, name] of wanted) {
      files.set(key, await paint(name));
      progress(files.size, wanted.size);
    }
    return new Gallery(files);
  }

  /** @returns a PNG file */
  picture(name: PictureName): Buffer {
    const file = this.files.get(keyOf(name));
    if (file === undefined) throw new RangeError(`${keyOf(name)} was not painted`);
    return file;
  }
}

function keyOf({ motif, variant }: PictureName): string {
  return `${motif} ${variant}`;
}

function paint({ motif, variant }: PictureName): Promise<Buffer> {
  const number = MOTIFS.indexOf(motif) * 2 + variant;
  const moods = Object.values(MOODS);
  const mood = moods[(number * 3 + variant) % moods.length] ?? MOODS.cream;
  return encodePng(PAINTERS[motif](variant, mood, new Random(number + 1)));
}
