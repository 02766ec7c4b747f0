import { BAKERY, type Flavour, type Recipe, type Size } from './examples.js';
import { Random } from './random.js';

/** A product that a bakery might sell. */
export interface SeedProduct {
  readonly name: string;
  readonly description: string;
  /** Rupiah, a decimal as the catalog stores it. */
  readonly price: string;
  /** Names of its pictures, none to two of them. */
  readonly pictures: readonly string[];
}

interface Choice {
  readonly recipe: Recipe;
  readonly flavour: Flavour;
  readonly size: Size;
}

const CHOICES: readonly Choice[] = BAKERY.recipes.flatMap((recipe) =>
  (BAKERY.flavours[recipe.flavours] ?? []).flatMap((flavour) =>
    (BAKERY.sizes[recipe.sizes] ?? []).map((size) => ({ recipe, flavour, size })),
  ),
);

/** How many different products there are. */
export const MOST_PRODUCTS = BAKERY.bakers.length * CHOICES.length;

/**
 * The first products of a seed's catalog, every name once. The same seed and a smaller number give the beginning of
 * the same list.
 * @param count at most `MOST_PRODUCTS`
 */
export function catalog(count: number, seed: number): SeedProduct[] {
  const random = new Random(seed);
  const products: SeedProduct[] = [];
  for (const baker of BAKERY.bakers) {
    for (const choice of random.shuffled(CHOICES)) {
      if (products.length === count) return products;
      products.push(productOf(choice, baker, random));
    }
  }
  return products;
}

function productOf({ recipe, flavour, size }: Choice, baker: string, random: Random): SeedProduct {
  const taste = flavour.name === 'Original' ? '' : ` ${flavour.name}`;
  return {
    name: `${recipe.name}${taste}${baker === '' ? '' : ` ala ${baker}`}, ${size.name}`,
    description: describe(recipe, flavour, baker, random),
    price: priceOf(recipe, size, random),
    pictures: picturesOf(recipe, random),
  };
}

function describe({ name, about }: Recipe, { note }: Flavour, baker: string, random: Random): string {
  const sentences = [
    `${name} ${about}.`,
    note,
    ...(baker === '' ? [] : [`${baker} bakes it by a recipe from home.`]),
    random.pick(BAKERY.ovens),
    ...(random.next() < 0.5 ? [`It goes well with ${random.pick(BAKERY.partners)}.`] : []),
    random.pick(BAKERY.keeping),
  ];
  return sentences.join(' ');
}

/** To the next 500 rupiah, as it would stand on a shelf. */
function priceOf({ price: [from, to] }: Recipe, { times }: Size, random: Random): string {
  const price = (from + random.next() * (to - from)) * times;
  return `${Math.round(price / 500) * 500}.00`;
}

/** One product in twenty has no picture, as in any catalog. */
function picturesOf({ picture }: Recipe, random: Random): string[] {
  const order = random.next() < 0.5 ? [1, 2] : [2, 1];
  const count = random.next() < 0.05 ? 0 : random.whole(1, 2);
  return order.slice(0, count).map((number) => `${picture}-${number}`);
}
