import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShopDto } from '../../shop/shop.dto.js';
import type { Random } from './random.js';

type TextList = 'bakers' | 'ovens' | 'keeping' | 'partners' | 'customers' | 'notes';
/** Content of `examples/bakery.json`. The first entry of `bakers` is empty: the first products mention no baker. */
interface Bakery extends Record<TextList, readonly string[]> {
  readonly shop: ShopDto;
  readonly recipes: readonly {
    readonly name: string;
    readonly about: string;
    /** Prefix of two pictures: `<picture>-1.jpg` and `<picture>-2.jpg`. */
    readonly picture: string;
    /** Lowest and highest price of the smallest size, in rupiah. */
    readonly price: readonly [number, number];
    /** Keys of the lists of flavours and sizes below. */
    readonly flavours: string;
    readonly sizes: string;
  }[];
  readonly flavours: Readonly<Record<string, readonly { readonly name: string; readonly note: string }[]>>;
  /** `priceFactor` is the price relative to the smallest size. */
  readonly sizes: Readonly<
    Record<string, readonly { readonly name: string; readonly priceFactor: number }[]>
  >;
}

/** The folder `examples`, seen from `dist/src/commands/seed`. */
const EXAMPLES = join(import.meta.dirname, '../../../../examples');
export const BAKERY = JSON.parse(readFileSync(join(EXAMPLES, 'bakery.json'), 'utf8')) as Bakery;

/** Every recipe in each of its flavours and sizes. */
const VARIANTS = BAKERY.recipes.flatMap((recipe) =>
  (BAKERY.flavours[recipe.flavours] ?? []).flatMap((flavour) =>
    (BAKERY.sizes[recipe.sizes] ?? []).map((size) => ({ recipe, flavour, size })),
  ),
);
type Variant = (typeof VARIANTS)[number];

export const MAX_PRODUCTS = BAKERY.bakers.length * VARIANTS.length;

/** Builds up to MAX_PRODUCTS products with different names. `pictures` are names for `readPicture`. */
export function buildCatalog(count: number, random: Random) {
  const variants = random.shuffle(VARIANTS);
  return BAKERY.bakers
    .flatMap((baker) => variants.map((variant) => ({ ...variant, baker })))
    .slice(0, count)
    .map((variant) => buildProduct(variant, random));
}

export function readPicture(name: string): Buffer {
  return readFileSync(join(EXAMPLES, 'pictures', `${name}.jpg`));
}

function buildProduct({ recipe, flavour, size, baker }: Variant & { baker: string }, random: Random) {
  const flavourSuffix = flavour.name === 'Original' ? '' : ` ${flavour.name}`;
  const [lowest, highest] = recipe.price;
  const price = random.between(lowest, highest) * size.priceFactor;
  const sentences = [
    `${recipe.name} ${recipe.about}.`,
    flavour.note,
    baker === '' ? '' : `${baker} bakes it by a recipe from home.`,
    random.pick(BAKERY.ovens),
    random.next() < 0.5 ? `It goes well with ${random.pick(BAKERY.partners)}.` : '',
    random.pick(BAKERY.keeping),
  ];
  // One product in twenty has no picture, as in a real catalog.
  const pictures = random.next() < 0.05 ? [] : random.pick([[1, 2], [2, 1], [2], [1]]);
  return {
    name: `${recipe.name}${flavourSuffix}${baker === '' ? '' : ` ala ${baker}`}, ${size.name}`,
    description: sentences.filter((sentence) => sentence !== '').join(' '),
    // Shops round prices to 500 rupiah.
    price: `${Math.round(price / 500) * 500}.00`,
    pictures: pictures.map((number) => `${recipe.picture}-${number}`),
  };
}
