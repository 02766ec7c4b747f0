import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { createPhoto, createPng, padTo } from '../support/pictures.js';
import { openPage, search, waitForHeading, waitForText } from './support/page.js';
import { holdRequests, loseFirstResponse } from './support/requests.js';
import { changePrice, createProduct, makeUnavailable, makeUnique } from './support/shop.js';
import { createAdmin, createCustomer, openAsAdmin } from './support/shopper.js';

const MIB = 1024 * 1024;

/** Creates a PNG for a file input, padded to `size` bytes. The editor converts a file of more than 1 MiB to JPEG. */
function createUpload(name: string, size?: number) {
  const bytes = createPng(name);
  return { name, mimeType: 'image/png', buffer: size === undefined ? bytes : padTo(bytes, size) };
}

/** Saves a product twice, because the response to the first save is lost, and opens the product again. */
async function saveAgainAfterLostResponse(page: Page, { id, name }: { id: number; name: string }) {
  await loseFirstResponse(page, `**/api/products/${id}`, 'PUT');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await waitForText(page, `${name} is saved.`);
  await openPage(page, `/manage/products/${id}`);
}

function getTiles(page: Page) {
  return page.getByRole('list', { name: 'Pictures' }).getByRole('listitem');
}

/** Loads the pictures of the editor. Lists their alternative texts, which are file names, and their sizes in pixels. */
function loadPictures(page: Page) {
  return getTiles(page)
    .getByRole('img')
    .evaluateAll((images) =>
      Promise.all(
        (images as HTMLImageElement[]).map(async (image) => {
          await image.decode();
          return { name: image.alt, width: image.naturalWidth, height: image.naturalHeight };
        }),
      ),
    );
}

/** Holds the decoding of all pictures until the page gets the event `decode`. */
function holdDecoding(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const decode = globalThis.createImageBitmap;
    const released = new Promise((resolve) => {
      addEventListener('decode', resolve);
    });
    const decodeLater = async (file: Blob) => {
      await released;
      return decode(file);
    };
    globalThis.createImageBitmap = decodeLater as typeof decode;
  });
}

async function fillProduct(page: Page, name: string, price: string, description: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Price in rupiah').fill(price);
  await page.getByLabel('Description').fill(description);
}

it('a price that is not clearly a number of rupiah is rejected with an example', async () => {
  const { page } = await openAsAdmin('/manage/products/new');
  for (const price of ['25.00', '25k', '25 000', '25,000']) {
    await fillProduct(page, 'Roti unyil', price, 'A bite.');
    await page.getByRole('button', { name: 'Create product' }).click();
    await waitForText(page, 'Write the price like 25.000 or 25000.');
    await page.getByLabel('Price in rupiah').fill('');
    await page.getByText('Write the price like').waitFor({ state: 'detached' });
  }
});

it('photos of a phone and pictures in other formats become upright JPEG files of at most 2,000 pixels', async () => {
  const { page } = await openAsAdmin('/manage/products/new');
  const cake = sharp({ create: { width: 4000, height: 400, channels: 3, background: 'brown' } });
  await page.getByLabel('Add pictures').setInputFiles([
    { name: 'phone.jpg', mimeType: 'image/jpeg', buffer: await createPhoto() },
    { name: 'cake.webp', mimeType: 'image/webp', buffer: await cake.clone().webp().toBuffer() },
    { name: 'bread.avif', mimeType: 'image/avif', buffer: await cake.clone().avif({ effort: 0 }).toBuffer() },
  ]);
  await getTiles(page).nth(2).waitFor();
  expect(await loadPictures(page)).toEqual([
    { name: 'phone.jpg', width: 1500, height: 2000 },
    { name: 'cake.jpg', width: 2000, height: 200 },
    { name: 'bread.jpg', width: 2000, height: 200 },
  ]);
});

it('a product cannot be saved while its new pictures are being prepared', async () => {
  const product = await createProduct('Roti foto', 20_000);
  const { page } = await createAdmin();
  await holdDecoding(page);
  await openPage(page, `/manage/products/${product.id}`);
  await page.getByLabel('Add pictures').setInputFiles([createUpload('a.png')]);
  await page.getByLabel('Add pictures').setInputFiles([createUpload('b.png')]);
  const save = page.getByRole('button', { name: 'Save changes' });
  await save.click();
  const message = page.getByRole('alert').getByText('The pictures are being prepared.');
  await message.waitFor();
  await page.evaluate(() => dispatchEvent(new Event('decode')));
  await getTiles(page).nth(1).waitFor();
  await message.waitFor({ state: 'detached' });
  await save.click();
  await waitForText(page, `${product.name} is saved.`);
  await openPage(page, `/manage/products/${product.id}`);
  expect(await getTiles(page).count()).toBe(2);
});

it('a product that is saved again because the first response was lost gets its new pictures once', async () => {
  const product = await createProduct('Roti hilang', 20_000);
  const { page } = await openAsAdmin(`/manage/products/${product.id}`);
  await page.getByLabel('Add pictures').setInputFiles([createUpload('a.png'), createUpload('b.png')]);
  await getTiles(page).nth(1).waitFor();
  await page.getByLabel('Description').fill('Two lines,\nand butter.');
  await saveAgainAfterLostResponse(page, product);
  expect(await getTiles(page).count()).toBe(2);
  // Leaves the description untouched: the line breaks that the service stores must not count as a change.
  await page.getByLabel('Add pictures').setInputFiles([createUpload('c.png')]);
  await getTiles(page).nth(2).waitFor();
  await saveAgainAfterLostResponse(page, product);
  expect(await getTiles(page).count()).toBe(3);
});

it('saving a product that a colleague has changed first shows the changes, and keeps the unsaved picture', async () => {
  const product = await createProduct('Roti berdua', 20_000);
  const theirs = await openAsAdmin(`/manage/products/${product.id}`);
  const saveTheirs = async () => {
    await theirs.page.getByRole('button', { name: 'Save changes' }).click();
    await waitForText(theirs.page, `${product.name} is saved.`);
  };
  await theirs.page.getByLabel('Add pictures').setInputFiles([createUpload('old.png')]);
  await getTiles(theirs.page).nth(0).waitFor();
  await saveTheirs();
  const mine = await openAsAdmin(`/manage/products/${product.id}`);
  await mine.page.getByLabel('Add pictures').setInputFiles([createUpload('mine.png')]);
  await getTiles(mine.page).nth(1).waitFor();
  await mine.page.getByLabel('Description').fill('With more butter.');

  await openPage(theirs.page, `/manage/products/${product.id}`);
  for (const action of ['Remove', 'Keep', 'Remove'])
    await theirs.page.getByRole('button', { name: `${action} picture 1` }).click();
  await waitForText(theirs.page, '0 pictures after saving.');
  await theirs.page.getByLabel('Add pictures').setInputFiles([createUpload('a.png'), createUpload('b.png')]);
  await getTiles(theirs.page).nth(2).waitFor();
  await theirs.page.getByLabel('Price in rupiah').fill('35000');
  await saveTheirs();

  await mine.page.getByRole('button', { name: 'Save changes' }).click();
  await waitForText(mine.page, /^Somebody else has changed: Price in rupiah: Rp\s35\.000, Pictures/);
  expect(await mine.page.getByLabel('Description').inputValue()).toBe('With more butter.');
  const names = (await loadPictures(mine.page)).map((picture) => picture.name);
  expect(names).toEqual(['picture 1', 'picture 2', 'mine.png']);
  await mine.page.getByRole('button', { name: 'Save changes' }).click();
  await waitForText(mine.page, `${product.name} is saved.`);
  await openPage(mine.page, `/manage/products/${product.id}`);
  expect(await getTiles(mine.page).count()).toBe(3);
});

it('saving a product succeeds after a colleague has marked it as sold out', async () => {
  const product = await createProduct('Roti habis', 20_000);
  const { page } = await openAsAdmin(`/manage/products/${product.id}`);
  await makeUnavailable(product.id);
  await page.getByLabel('Description').fill('With more butter.');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await waitForText(page, `${product.name} is saved.`);
});

it('a product whose creation is repeated because the first response was lost is created once', async () => {
  const name = makeUnique('Roti ganda');
  const { page } = await openAsAdmin('/manage/products/new');
  await fillProduct(page, name, '12.500', 'Only one.');
  await loseFirstResponse(page, '**/api/products', 'POST');
  await page.getByRole('button', { name: 'Create product' }).click();
  await waitForText(page, 'We cannot reach the bakery.');
  await page.getByRole('button', { name: 'Create product' }).click();
  await waitForText(page, `${name} is saved.`);
  await waitForHeading(page, 'Edit product');
  await openPage(page, '/manage/products');
  await search(page, name);
  await waitForText(page, '1 product found.');
});

it('a price with decimals is stored, and the form accepts it again', async () => {
  const { id, name } = await createProduct('Roti sen', 12_000);
  const { page } = await openAsAdmin(`/manage/products/${id}`);
  const price = page.getByLabel('Price in rupiah');
  await price.fill('12.500,50');
  for (let times = 0; times < 2; times += 1) {
    await page.getByRole('button', { name: 'Save changes' }).click();
    await waitForText(page, `${name} is saved.`);
    await waitForHeading(page, 'Products');
    await openPage(page, `/manage/products/${id}`);
    expect(await price.inputValue()).toBe('12500,5');
  }
});

it('a form that is submitted again while its values are being sent sends them once', async () => {
  const name = makeUnique('Roti sekali');
  const { page } = await openAsAdmin('/manage/products/new');
  let requests = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/products')) requests += 1;
  });
  await fillProduct(page, name, '15.000', 'Only one.');
  const release = await holdRequests(page, '**/api/products');
  for (let times = 0; times < 3; times += 1) await page.getByLabel('Name').press('Enter');
  await release();
  await waitForText(page, `${name} is saved.`);
  expect(requests).toBe(1);
});

it('a new product gets the chosen pictures in the chosen order, and the upload shows its progress', async () => {
  const name = makeUnique('Roti unyil');
  const { page } = await openAsAdmin('/manage/products/new');
  await fillProduct(page, name, 'Rp 15.000', 'Tiny breads, a bite each.');
  const upload = page.getByLabel('Add pictures');
  await upload.setInputFiles([{ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') }]);
  await waitForText(page, 'Not added: note.txt is not a picture that this browser can read.');
  await upload.setInputFiles([createUpload('a.png', 4 * MIB), createUpload('b.png', 4 * MIB)]);
  await upload.setInputFiles([createUpload('d.png'), createUpload('c.png', 4 * MIB)]);
  await getTiles(page).nth(3).waitFor();
  expect(await getTiles(page).count()).toBe(4);
  await page.getByRole('button', { name: 'Take out d.png' }).dblclick(); // c.jpg moves under the mouse.
  await page.getByRole('button', { name: 'Move a.jpg back' }).press('Enter');
  await getTiles(page).nth(2).dragTo(getTiles(page).nth(0));
  const names = (await loadPictures(page)).map((picture) => picture.name);
  expect(names).toEqual(['c.jpg', 'b.jpg', 'a.jpg']); // The editor has converted the large PNG files.
  await waitForText(page, '3 pictures after saving.');

  const release = await holdRequests(page, '**/api/products');
  await page.getByRole('button', { name: 'Create product' }).click();
  await page.getByRole('progressbar', { name: 'Upload' }).waitFor();
  await release();
  await waitForText(page, `${name} is saved.`);

  // The editor now shows the new product.
  await waitForHeading(page, 'Edit product');
  expect(await page.getByLabel('Price in rupiah').inputValue()).toBe('15000');
  await page.getByRole('button', { name: 'Remove picture 3' }).waitFor();
  expect(await getTiles(page).count()).toBe(3);
});

it('an administrator deletes a product after a confirmation', async () => {
  const { name, id } = await createProduct('Roti unyil', 15_000);
  const { page } = await openAsAdmin(`/manage/products/${id}`);
  await page.getByRole('button', { name: 'Delete product' }).click();
  await page.getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('button', { name: 'Delete product' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await waitForText(page, `${name} is deleted.`);
  await search(page, name);
  await waitForText(page, 'Nothing found');
});

it('the form of a product starts with the current price, not with a cached one', async () => {
  const product = await createProduct('Roti berdua', 20_000);
  const { page } = await openAsAdmin(`/manage/products/${product.id}`);
  const price = page.getByLabel('Price in rupiah');
  expect(await price.inputValue()).toBe('20000');
  await page.getByRole('link', { name: 'Sales' }).click();
  await waitForHeading(page, 'Sales');
  await changePrice(product, 30_000);
  const url = `**/api/products/${product.id}`;
  await page.route(url, (route) => route.abort());
  await page.goBack();
  await waitForText(page, 'We cannot reach the bakery.');
  expect(await price.count()).toBe(0);
  await page.unroute(url);
  await page.getByRole('button', { name: 'Try again' }).click();
  expect(await price.inputValue()).toBe('30000');
});

it('a customer cannot open the pages of administrators', async () => {
  const { page } = await createCustomer();
  await page.goto('/manage/products');
  await waitForText(page, 'There is nothing here');
  expect(await page.getByRole('link', { name: 'Manage' }).count()).toBe(0);
});
