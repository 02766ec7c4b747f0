import { readFile } from 'node:fs/promises';

/** Two full pages of the list and a third one. */
export const PRODUCTS = 120;

/** Name, description, price and the names of two pictures in examples/pictures. */
const SHOWN = [
  ['Kue lapis legit', 'Eighteen layers, baked one by one, with cinnamon and clove.', 185000, 'brown-layers'],
  ['Butter croissant', 'Three days of folding, twenty minutes of oven.', 24000, 'croissant'],
  ['Sourdough loaf', 'Wild yeast, Java wheat, a crust that sings.', 68000, 'hearth-loaf'],
  ['Donat kentang', 'Potato dough, fried golden, dusted with sugar.', 12000, 'doughnuts'],
  ['Roti sobek pandan', 'Soft rolls to tear apart, green with pandan.', 45000, 'buns'],
  ['Bolu pandan', 'Light as the morning, scented with coconut milk.', 75000, 'round-cake'],
  ['Rye with caraway', 'Dark, dense and good for a week.', 72000, 'tin-loaf'],
  ['Almond tart', 'Yesterday’s best idea, baked a second time.', 32000, 'tart'],
];
const MORE = ['Roti gandum', 'Kue cubit', 'Pain au chocolat', 'Bagel wijen', 'Bakpao ayam', 'Scone keju'];
const AT_ONCE = 4;

/** Creates the products as an administrator. The first ones have pictures. */
export async function fillCatalog(url, admin, count = PRODUCTS) {
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

  // One after another, for a known order.
  for (const [name, description, price, kind] of SHOWN) {
    const pictures = [`${kind}-1`, `${kind}-2`, 'baguettes-1'];
    const files = pictures.map((picture) => readFile(`examples/pictures/${picture}.jpg`));
    await create(name, description, price, await Promise.all(files));
  }
  const rest = Array.from({ length: count - SHOWN.length }, (_, index) => index);
  while (rest.length > 0) {
    await Promise.all(
      rest.splice(0, AT_ONCE).map((index) => {
        const name = `${MORE[index % MORE.length]} no. ${Math.floor(index / MORE.length) + 1}`;
        return create(name, 'Baked fresh every morning.', 9000 + index * 500, []);
      }),
    );
  }
}
