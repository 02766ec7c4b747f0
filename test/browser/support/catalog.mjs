import { pictures } from './pictures.mjs';

/** Two full pages of the list and a third one. */
export const PRODUCTS = 120;

const SHOWN = [
  ['Kue lapis legit', 'Eighteen layers, baked one by one, with cinnamon and clove.', 185000, 'cake'],
  ['Butter croissant', 'Three days of folding, twenty minutes of oven.', 24000, 'croissant'],
  ['Sourdough loaf', 'Wild yeast, Java wheat, a crust that sings.', 68000, 'loaf'],
  ['Donat kentang', 'Potato dough, fried golden, dusted with sugar.', 12000, 'ring'],
  ['Roti sobek pandan', 'Soft rolls to tear apart, green with pandan.', 45000, 'bun'],
  ['Bolu pandan', 'Light as the morning, scented with coconut milk.', 75000, 'cake'],
  ['Rye with caraway', 'Dark, dense and good for a week.', 72000, 'loaf'],
  ['Almond croissant', 'Yesterday’s best idea, baked a second time.', 32000, 'croissant'],
];
const MORE = [
  'Roti gandum',
  'Kue cubit',
  'Pain au chocolat croissant',
  'Bagel wijen',
  'Bakpao ayam',
  'Scone keju',
];
const AT_ONCE = 4;

/** Puts products into the catalog as an administrator would; the first ones with pictures. */
export async function fillCatalog(url, admin, browser) {
  const drawn = await pictures(browser);
  const login = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const cookie = login.headers
    .getSetCookie()
    .map((header) => header.split(';')[0])
    .join('; ');
  const create = async (name, description, price, files) => {
    const form = new FormData();
    form.set('name', name);
    form.set('description', description);
    form.set('price', String(price));
    for (const [index, bytes] of files.entries())
      form.append('images', new Blob([bytes]), `${index + 1}.jpg`);
    const answer = await fetch(`${url}/api/products`, { method: 'POST', headers: { cookie }, body: form });
    if (answer.status !== 201) throw new Error(`no product: ${answer.status} ${await answer.text()}`);
  };

  // One after another, so that their order is known.
  for (const [name, description, price, kind] of SHOWN) {
    await create(name, description, price, [drawn[kind], drawn.counter, drawn.oven]);
  }
  const rest = Array.from({ length: PRODUCTS - SHOWN.length }, (_, index) => index);
  while (rest.length > 0) {
    await Promise.all(
      rest.splice(0, AT_ONCE).map((index) => {
        const name = `${MORE[index % MORE.length]} no. ${Math.floor(index / MORE.length) + 1}`;
        return create(name, 'Baked fresh every morning.', 9000 + index * 500, []);
      }),
    );
  }
}
