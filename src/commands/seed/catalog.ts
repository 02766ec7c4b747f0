import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Words = 'bakers' | 'ovens' | 'keeping' | 'partners' | 'customers';
/** `examples/bakery.json`: what the made-up bakery sells, and who buys it. The first baker has no name. */
interface Bakery extends Record<Words, readonly string[]> {
  readonly recipes: readonly {
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
  }[];
  readonly flavours: Readonly<Record<string, readonly { readonly name: string; readonly note: string }[]>>;
  /** `times`: how many times the smallest price it costs. */
  readonly sizes: Readonly<Record<string, readonly { readonly name: string; readonly times: number }[]>>;
}

/** From `dist/src/commands/seed`. */
const FOLDER = join(import.meta.dirname, '../../../../examples');
export const BAKERY = JSON.parse(readFileSync(join(FOLDER, 'bakery.json'), 'utf8')) as Bakery;

const CHOICES = BAKERY.recipes.flatMap((recipe) =>
  (BAKERY.flavours[recipe.flavours] ?? []).flatMap((flavour) =>
    (BAKERY.sizes[recipe.sizes] ?? []).map((size) => ({ recipe, flavour, size })),
  ),
);
/** Primes that do not divide the number of choices: steps of `STRIDE` meet every choice once and mix the recipes. */
const STRIDE = 1109;
const SEED_STRIDE = 997;

/** How many different products there are. */
export const MOST_PRODUCTS = BAKERY.bakers.length * CHOICES.length;

/**
 * The first products of a seed's catalog, every name once, with the names of their pictures. The same seed and a smaller
 * number give the beginning of the same list.
 * @param count at most `MOST_PRODUCTS`
 */
export function catalog(count: number, seed: number) {
  return Array.from({ length: count }, (_, n) => {
    const choice = pick(CHOICES, (n + seed * SEED_STRIDE) * STRIDE);
    return productOf(choice, pick(BAKERY.bakers, Math.floor(n / CHOICES.length)), n);
  });
}

/** The n-th entry of a list that is not empty; after the last one comes the first. */
export function pick<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

/** @returns the JPEG file of a picture: `croissant-1` */
export function picture(name: string): Buffer {
  return readFileSync(join(FOLDER, 'pictures', `${name}.jpg`));
}

function productOf({ recipe, flavour, size }: (typeof CHOICES)[number], baker: string, n: number) {
  const taste = flavour.name === 'Original' ? '' : ` ${flavour.name}`;
  const [cheapest, dearest] = recipe.price;
  const price = (cheapest + ((dearest - cheapest) * (n % 7)) / 6) * size.times;
  const sentences = [
    `${recipe.name} ${recipe.about}.`,
    flavour.note,
    baker === '' ? '' : `${baker} bakes it by a recipe from home.`,
    pick(BAKERY.ovens, n),
    n % 2 === 0 ? '' : `It goes well with ${pick(BAKERY.partners, Math.floor(n / 2))}.`,
    pick(BAKERY.keeping, n),
  ];
  // One product in twenty has no picture, as in any catalog.
  const pictures = n % 20 === 19 ? [] : pick([[1, 2], [2, 1], [2], [1]], n);
  return {
    name: `${recipe.name}${taste}${baker === '' ? '' : ` ala ${baker}`}, ${size.name}`,
    description: sentences.filter((sentence) => sentence !== '').join(' '),
    // To the next 500 rupiah, as it would stand on a shelf.
    price: `${Math.round(price / 500) * 500}.00`,
    pictures: pictures.map((number) => `${recipe.picture}-${number}`),
  };
}
