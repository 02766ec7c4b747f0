import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is in a product or on it: in its name, and in a sentence. */
export interface Flavour {
  readonly name: string;
  readonly note: string;
}

/** A size in a name, and how many times the smallest price it costs. */
export interface Size {
  readonly name: string;
  readonly times: number;
}

/** What a family of products has in common. */
export interface Recipe {
  readonly name: string;
  /** Continues "<name> ...": what it is. */
  readonly about: string;
  /** Two pictures show it: `<picture>-1.jpg` and `<picture>-2.jpg`. */
  readonly picture: string;
  /** Of the smallest size, from and to, in rupiah. */
  readonly price: readonly [number, number];
  /** Keys of `flavours` and `sizes`. */
  readonly flavours: string;
  readonly sizes: string;
}

/** `examples/bakery.json`: what the made-up bakery sells, and who buys it. */
interface Bakery {
  readonly recipes: readonly Recipe[];
  readonly flavours: Readonly<Record<string, readonly Flavour[]>>;
  readonly sizes: Readonly<Record<string, readonly Size[]>>;
  /** The first one has no name. */
  readonly bakers: readonly string[];
  readonly ovens: readonly string[];
  readonly keeping: readonly string[];
  readonly partners: readonly string[];
  readonly customers: readonly string[];
}

/** From `dist/src/commands/seed`. */
const FOLDER = join(import.meta.dirname, '../../../../examples');

export const BAKERY = JSON.parse(readFileSync(join(FOLDER, 'bakery.json'), 'utf8')) as Bakery;

/** @returns the JPEG file of a picture: `croissant-1` */
export function picture(name: string): Buffer {
  return readFileSync(join(FOLDER, 'pictures', `${name}.jpg`));
}
