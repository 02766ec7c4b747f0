import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShopDto } from '../../shop/shop.dto.js';

type Words = 'bakers' | 'ovens' | 'keeping' | 'partners' | 'customers' | 'notes';
/** Content of `examples/bakery.json`. The first entry of `bakers` is empty: the first products mention no baker. */
interface Bakery extends Record<Words, readonly string[]> {
  readonly shop: ShopDto;
  readonly recipes: readonly {
    readonly name: string;
    readonly about: string;
    /** Prefix of two pictures: `<picture>-1.jpg` and `<picture>-2.jpg`. */
    readonly picture: string;
    /** Lowest and highest price of the smallest size, in rupiah. */
    readonly price: readonly [number, number];
    readonly flavours: string;
    readonly sizes: string;
  }[];
  readonly flavours: Readonly<Record<string, readonly { readonly name: string; readonly note: string }[]>>;
  /** `times` is the price relative to the smallest size. */
  readonly sizes: Readonly<Record<string, readonly { readonly name: string; readonly times: number }[]>>;
}

/** Path from `dist/src/commands/seed`. */
const FOLDER = join(import.meta.dirname, '../../../../examples');
export const BAKERY = JSON.parse(readFileSync(join(FOLDER, 'bakery.json'), 'utf8')) as Bakery;

const CHOICES = BAKERY.recipes.flatMap((recipe) =>
  (BAKERY.flavours[recipe.flavours] ?? []).flatMap((flavour) =>
    (BAKERY.sizes[recipe.sizes] ?? []).map((size) => ({ recipe, flavour, size })),
  ),
);
/** Prime that does not divide the number of choices. Steps of this length visit each choice once and mix the recipes. */
const STRIDE = 1109;
/** Number of steps between the first products of two consecutive seeds. */
const SEED_STRIDE = 997;

export const MAX_PRODUCTS = BAKERY.bakers.length * CHOICES.length;

/** Builds products for a seed. Up to MAX_PRODUCTS products have different names. `pictures` are names for `readPicture`. */
export function buildCatalog(count: number, seed: number) {
  return Array.from({ length: count }, (_, n) => {
    const choice = pick(CHOICES, (n + seed * SEED_STRIDE) * STRIDE);
    return buildProduct(choice, pick(BAKERY.bakers, Math.floor(n / CHOICES.length)), n);
  });
}

/** Returns the entry at index n of a list that is not empty. After the last entry, the list starts over. */
export function pick<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

export function readPicture(name: string): Buffer {
  return readFileSync(join(FOLDER, 'pictures', `${name}.jpg`));
}

function buildProduct({ recipe, flavour, size }: (typeof CHOICES)[number], baker: string, n: number) {
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
  // One product in twenty has no picture, as in a real catalog.
  const pictures = n % 20 === 19 ? [] : pick([[1, 2], [2, 1], [2], [1]], n);
  return {
    name: `${recipe.name}${taste}${baker === '' ? '' : ` ala ${baker}`}, ${size.name}`,
    description: sentences.filter((sentence) => sentence !== '').join(' '),
    // Shops round prices to 500 rupiah.
    price: `${Math.round(price / 500) * 500}.00`,
    pictures: pictures.map((number) => `${recipe.picture}-${number}`),
  };
}
