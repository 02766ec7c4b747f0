import type { FLAVOURS, SIZES } from './flavours.js';
import type { Motif } from './pictures/gallery.js';

/** What a family of products has in common. Prices in rupiah. */
export interface Recipe {
  readonly name: string;
  /** Continues "<name> ...": what it is. */
  readonly about: string;
  readonly motif: Motif;
  /** Of the smallest size. */
  readonly price: readonly [from: number, to: number];
  readonly flavours: keyof typeof FLAVOURS;
  readonly sizes: keyof typeof SIZES;
}

type Row = readonly [name: string, from: number, to: number, about: string];

/** @param rows with prices in thousands of rupiah */
const recipes = (
  motif: Motif,
  flavours: Recipe['flavours'],
  sizes: Recipe['sizes'],
  rows: readonly Row[],
): Recipe[] =>
  rows.map(([name, from, to, about]) => ({
    name,
    about,
    motif,
    price: [from * 1000, to * 1000],
    flavours,
    sizes,
  }));

export const RECIPES: readonly Recipe[] = [
  ...recipes('tin loaf', 'bread', 'loaf', [
    ['Roti Tawar', 18, 26, 'is our daily tin loaf, sliced or whole'],
    ['Brioche', 38, 55, 'is rich in butter and eggs, and pulls apart in threads'],
    ['Shokupan', 32, 45, 'is a Japanese milk loaf with a crust as thin as paper'],
  ]),
  ...recipes('hearth loaf', 'bread', 'loaf', [
    ['Sourdough', 45, 65, 'rises for two days on our own starter'],
    ['Pain de Campagne', 42, 60, 'is a country loaf with a thick, blistered crust'],
    ['Bauernbrot', 48, 66, 'is a German farmhouse loaf, dense and faintly sour'],
  ]),
  ...recipes('baguettes', 'bread', 'piece', [
    ['Baguette', 22, 30, 'cracks when it is broken and is soft within'],
    ['Ficelle', 15, 22, 'is the baguette’s slim sister, nearly all crust'],
    ['Ciabatta', 20, 28, 'has the large holes that olive oil likes'],
  ]),
  ...recipes('buns', 'filling', 'piece', [
    ['Roti Sobek', 28, 40, 'is a pan of soft buns that are torn off one by one'],
    ['Roti Manis', 8, 14, 'is the sweet bun of every Indonesian childhood'],
    ['Roti Unyil', 3, 5, 'is a bun for one bite, or two'],
    ['Bakpao Panggang', 9, 14, 'is our baked bun with a glossy top'],
  ]),
  ...recipes('croissant', 'filling', 'piece', [
    ['Croissant', 22, 32, 'has twenty-seven layers of French butter'],
    ['Kouign-amann', 28, 36, 'is layered with sugar that turns to caramel in the oven'],
    ['Cornetto', 20, 28, 'is the Italian cousin of the croissant, softer and sweeter'],
  ]),
  ...recipes('doughnuts', 'filling', 'piece', [
    ['Donat Kentang', 7, 12, 'owes its softness to mashed potatoes in the dough'],
    ['Donat Bakar', 8, 13, 'is baked, not fried, and lighter for it'],
  ]),
  ...recipes('brown layers', 'cake', 'cake', [
    ['Lapis Legit', 185, 260, 'is grilled layer by layer, eighteen of them'],
    ['Spekkoek', 175, 240, 'is the spiced layer cake of old Batavia'],
    ['Lapis Surabaya', 150, 210, 'is three sheets of sponge with jam between them'],
    ['Baumkuchen', 190, 260, 'shows rings like a tree when it is cut'],
    ['Bika Ambon', 85, 120, 'is the honeycomb cake of Medan, springy and fragrant'],
  ]),
  ...recipes('bright layers', 'snack', 'cake', [
    ['Kue Lapis', 65, 95, 'is steamed in nine colours’ worth of thin, chewy layers'],
    ['Kue Pepe', 60, 90, 'peels off layer by layer, as children eat it'],
  ]),
  ...recipes('cupcakes', 'cake', 'piece', [
    ['Bolu Kukus', 6, 9, 'is steamed until it bursts open and smiles'],
    ['Cupcake', 15, 24, 'wears a swirl of whipped cream'],
    ['Muffin', 14, 20, 'has a domed, crackled top and a tender middle'],
  ]),
  ...recipes('cupcakes', 'snack', 'piece', [
    ['Kue Mangkok', 5, 8, 'is a rice cake that opens like a flower'],
  ]),
  ...recipes('roll cake', 'cake', 'cake', [
    ['Bolu Gulung', 75, 110, 'is a sponge rolled up while it is warm'],
    ['Bûche', 160, 220, 'is a roll for feast days, with its bark of cream'],
  ]),
  ...recipes('round cake', 'cake', 'round', [
    ['Kue Tart Ulang Tahun', 180, 260, 'is the birthday cake with icing that runs down its side'],
    ['Black Forest', 210, 290, 'is layered with cherries and whipped cream'],
    ['Victoria Sponge', 150, 210, 'is two plain sponges and what is between them'],
    ['Cheesecake', 190, 270, 'is baked slowly and cooled in the oven so that it does not crack'],
  ]),
  ...recipes('biscuits', 'filling', 'jar', [
    ['Nastar', 65, 95, 'is the pineapple biscuit without which there is no Lebaran'],
  ]),
  ...recipes('biscuits', 'snack', 'jar', [
    ['Putri Salju', 60, 85, 'melts on the tongue under its powdered sugar'],
    ['Kue Sagu', 50, 75, 'crumbles at the first touch, as sago biscuits should'],
    ['Kaasstengels', 75, 110, 'is a cheese biscuit that the Dutch left and nobody gave back'],
    ['Vanillekipferl', 70, 98, 'is a crescent of ground nuts and vanilla sugar'],
  ]),
  ...recipes('tart', 'filling', 'piece', [
    ['Pie Susu', 7, 12, 'is Bali’s milk tart, thin and crisp'],
    ['Pastel de Nata', 16, 24, 'is baked very hot until the custard blisters'],
  ]),
  ...recipes('tart', 'cake', 'round', [
    ['Tarte aux Fruits', 140, 200, 'is a crisp shell with custard and whatever the market had'],
    ['Klappertaart', 85, 130, 'is Manado’s coconut custard, with raisins and cinnamon'],
  ]),
  ...recipes('balls', 'snack', 'piece', [
    ['Klepon', 12, 18, 'bursts with palm sugar and is rolled in coconut'],
    ['Onde-onde', 6, 10, 'is crisp with sesame outside and soft inside'],
    ['Bola-bola Ubi', 5, 8, 'is a ball of sweet potato, hollow and crisp'],
  ]),
];
