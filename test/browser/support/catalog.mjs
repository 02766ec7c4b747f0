import { readFile } from 'node:fs/promises';
import { request } from 'playwright-core';

/** Name, description, price, and the prefix that the names of the first two picture files share. */
const WITH_PICTURES = [
  ['Kue lapis legit', 'Eighteen layers, baked one by one, with cinnamon and clove.', 185000, 'brown-layers'],
  ['Butter croissant', 'Three days of folding, twenty minutes of oven.', 24000, 'croissant'],
  ['Sourdough loaf', 'Wild yeast, Java wheat, a crust that sings.', 68000, 'hearth-loaf'],
  ['Donat kentang', 'Potato dough, fried golden, dusted with sugar.', 12000, 'doughnuts'],
  ['Roti sobek pandan', 'Soft rolls to tear apart, green with pandan.', 45000, 'buns'],
  ['Bolu pandan', 'Light as the morning, scented with coconut milk.', 75000, 'round-cake'],
  ['Rye with caraway', 'Dark, dense and good for a week.', 72000, 'tin-loaf'],
  ['Almond tart', 'Yesterday’s best idea, baked a second time.', 32000, 'tart'],
];
/** Names of the products without pictures, each followed by a number. */
const NAMES = ['Roti gandum', 'Kue cubit', 'Pain au chocolat', 'Bagel wijen', 'Bakpao ayam', 'Scone keju'];

/** Creates products one after another, so that their ids are known: 1 to 8 for the products with pictures. */
export async function fillCatalog(baseURL, admin, count) {
  const api = await request.newContext({ baseURL });
  await api.post('/api/login', { data: admin });
  for (let index = 0; index < count; index += 1) {
    const [name, description, price, pictures] =
      WITH_PICTURES[index] ?? describeProduct(index - WITH_PICTURES.length);
    const multipart = new FormData();
    for (const [field, value] of Object.entries({ name, description, price })) multipart.set(field, value);
    for (const picture of pictures ? [`${pictures}-1`, `${pictures}-2`, 'baguettes-1'] : []) {
      const file = new Blob([await readFile(`examples/pictures/${picture}.jpg`)]);
      multipart.append('images', file, `${picture}.jpg`);
    }
    const response = await api.post('/api/products', { multipart });
    if (!response.ok())
      throw new Error(`${name} was not created: ${response.status()} ${await response.text()}`);
  }
  await api.dispose();
}

function describeProduct(index) {
  const name = `${NAMES[index % NAMES.length]} no. ${Math.floor(index / NAMES.length) + 1}`;
  return [name, 'Baked fresh every morning.', 9000 + index * 500];
}
