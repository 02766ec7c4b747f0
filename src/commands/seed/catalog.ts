import { type Flavour, FLAVOURS, SIZES } from './flavours.js';
import type { PictureName } from './pictures/gallery.js';
import { Random } from './random.js';
import { type Recipe, RECIPES } from './recipes.js';

/** A product that a bakery might sell. */
export interface SeedProduct {
  readonly name: string;
  readonly description: string;
  /** Rupiah, a decimal as the catalog stores it. */
  readonly price: string;
  /** What its pictures show, none to two of them. */
  readonly pictures: readonly PictureName[];
}

/** Bakers of the house; the first ones' goods come first, so that few products have plain names. */
const BAKERS = ['', 'Bu Ratna', 'Pak Joko', 'Oma Elsje', 'Mas Bayu', 'Nonya Lim', 'Chef Margot', 'Uni Rahma'];
const OVENS = [
  'It is baked before sunrise and on the shelf by seven.',
  'We bake it twice a day, so that it is never older than an afternoon.',
  'It leaves the oven at ten, and most days it is gone by noon.',
  'Order before six in the evening and it is baked for you the next morning.',
] as const;
const KEEPING = [
  'It keeps for two days at room temperature.',
  'Best on the day itself; after that, a minute in a hot oven brings it back.',
  'It keeps for five days in a closed tin, if you can leave it there.',
  'Keep it cool and take it out half an hour before you serve it.',
  'It travels well and likes to be given away.',
] as const;
const PARTNERS = [
  'black coffee',
  'teh tarik',
  'jasmine tea',
  'a glass of cold milk',
  'bandrek',
  'kopi tubruk',
] as const;

/** How many different products there are. */
export const MOST_PRODUCTS =
  BAKERS.length *
  RECIPES.reduce((sum, { flavours, sizes }) => sum + FLAVOURS[flavours].length * SIZES[sizes].length, 0);

/**
 * The first products of a seed's catalog, every name once. The same seed and a smaller number give the beginning of
 * the same list.
 * @param count at most `MOST_PRODUCTS`
 */
export function catalog(count: number, seed: number): SeedProduct[] {
  const random = new Random(seed);
  const products: SeedProduct[] = [];
  for (const baker of BAKERS) {
    const choices = RECIPES.flatMap((recipe) =>
      FLAVOURS[recipe.flavours].flatMap((flavour) =>
        SIZES[recipe.sizes].map((size) => ({ recipe, flavour, size })),
      ),
    );
    for (const { recipe, flavour, size } of random.shuffled(choices)) {
      if (products.length === count) return products;
      products.push({
        name: nameOf(recipe, flavour, size.name, baker),
        description: describe(recipe, flavour, baker, random),
        price: priceOf(recipe, size.times, random),
        pictures: picturesOf(recipe, random),
      });
    }
  }
  return products;
}

function nameOf({ name }: Recipe, flavour: Flavour, size: string, baker: string): string {
  const taste = flavour.name === 'Original' ? '' : ` ${flavour.name}`;
  return `${name}${taste}${baker === '' ? '' : ` ala ${baker}`}, ${size}`;
}

function describe({ name, about }: Recipe, { note }: Flavour, baker: string, random: Random): string {
  const sentences = [
    `${name} ${about}.`,
    note,
    ...(baker === '' ? [] : [`${baker} bakes it by a recipe from home.`]),
    random.pick(OVENS),
    ...(random.next() < 0.5 ? [`It goes well with ${random.pick(PARTNERS)}.`] : []),
    random.pick(KEEPING),
  ];
  return sentences.join(' ');
}

/** To the next 500 rupiah, as it would stand on a shelf. */
function priceOf({ price: [from, to] }: Recipe, times: number, random: Random): string {
  return `${Math.round((random.between(from, to) * times) / 500) * 500}.00`;
}

/** One product in twenty has no picture, as in any catalog. */
function picturesOf({ motif }: Recipe, random: Random): SeedProduct['pictures'] {
  const first = random.next() < 0.5 ? 0 : 1;
  const count = random.next() < 0.05 ? 0 : random.whole(1, 2);
  const variants = [first, first === 0 ? 1 : 0] as const;
  return variants.slice(0, count).map((variant) => ({ motif, variant }));
}
