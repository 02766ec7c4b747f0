import type { Response } from 'supertest';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { createJpeg, createNoisyPng, createPng, SVG_WITH_SCRIPT } from './support/pictures.js';
import {
  CAKE,
  countProducts,
  createPictures,
  createProduct,
  type FormFields,
  type FormFile,
  productOf,
  readLedger,
  readProduct,
  sendForm,
} from './support/products.js';
import { useService } from './support/service.js';
import { FORM_TYPE, buildFormPieces, upload } from './support/upload-load.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const NO_NUMBER = 'price should be a number';
const NO_NUMBERS = ['abc', '1.234', '.5', '5.', '+1', '1e3', '1,000', '0x10', 'Infinity', '٣'];
const BOUNDS = 'price should be from 0 to 999999999999.99';
const EXTENSION = 'image extension is not supported';
const REQUIRED = {
  name: 'product name is required',
  description: 'product description is required',
  price: 'product price cannot be empty',
};

const service = await useService();
const admin = await service.admin();

beforeEach(() => service.database.query('DELETE FROM images; DELETE FROM products'));

/** Sends a form and asserts that nothing is stored. */
async function sendInvalidForm(fields: FormFields, files: readonly FormFile[] = []): Promise<Response> {
  const response = await sendForm(admin.post('/api/products'), fields, files);
  await expectNothingStored();
  return response;
}

async function expectNothingStored(): Promise<void> {
  expect(await countProducts(service.database)).toBe(0);
  expect(await readLedger(service.database)).toEqual([]);
}

describe('POST /api/products', () => {
  async function downloadImage(url = ''): Promise<{ type: string; bytes: Buffer }> {
    const response = await service.client().get(new URL(url).pathname).expect(200);
    return { type: String(response.headers['content-type']), bytes: response.body as Buffer };
  }

  describe('with a valid form', () => {
    it('returns 201 with the product and the URLs of its images, as GET returns it later (contract 4.6)', async () => {
      const response = await sendForm(admin.post('/api/products'), CAKE, [
        { bytes: createPng('a'), name: 'a.png' },
        { bytes: createJpeg('b'), name: 'b.jpg', field: 'images[]' },
      ]).expect(201);
      const product = productOf(response);
      const images = [
        expect.stringMatching(/^http:\/\/bakery\.test\/api\/images\/[0-9a-f-]{36}\.png$/),
        expect.stringMatching(/\.jpg$/),
      ] as string[];
      const data = { products: { ...CAKE, id: product.id, price: 185000, images } };
      expect(response.body).toEqual({ status: 'success', data });
      expect(await readProduct(admin, product.id)).toEqual(product);
    });

    it('stores 5 images of up to 5 MiB in the order sent (contract 4.6)', async () => {
      const sizes = [5 * MIB, 200, 300_000, 100, 5 * MIB];
      const files = sizes.map((size, n) => ({ bytes: createNoisyPng(size), name: `${n}.png` }));
      const { images } = await createProduct(admin, files);
      const stored = await Promise.all(images.map(async (url) => (await downloadImage(url)).bytes));
      expect(stored.map((bytes, index) => files[index]?.bytes.equals(bytes))).toEqual(files.map(() => true));
    });

    it('trims texts and changes nothing else in them', async () => {
      const { id } = await createProduct(admin, [], {
        name: '  Kue "lapis" <legit> 🍰 \t',
        description: "\n Line one\n\nLine two: 100 %; '); DROP TABLE products;-- \n",
        price: ' 185000.50 ',
      });
      expect(await readProduct(admin, id)).toMatchObject({
        name: 'Kue "lapis" <legit> 🍰',
        description: "Line one\n\nLine two: 100 %; '); DROP TABLE products;--",
        price: 185000.5,
      });
    });

    it('accepts a name of 255 and a description of 10,000 four-byte characters, and not one more', async () => {
      const tooLong = { ...CAKE, name: 'x'.repeat(256), description: 'x'.repeat(10_001) };
      expectInvalid(await sendInvalidForm(tooLong), {
        name: 'product name can have 255 characters at max',
        description: 'product description can have 10000 characters at max',
      });
      const longest = { name: '🍰'.repeat(255), description: '🍰'.repeat(10_000), price: '1' };
      const { id } = await createProduct(admin, [], longest);
      expect(await readProduct(admin, id)).toMatchObject({ ...longest, price: 1 });
    });

    it.each([
      ['0', 0],
      ['007.50', 7.5],
      ['999999999999.99', 999_999_999_999.99],
    ])('stores a price of %s as %d (contract 4.6)', async (price, kept) => {
      const { id } = await createProduct(admin, [], { ...CAKE, price });
      expect((await readProduct(admin, id)).price).toBe(kept);
    });

    it.each([
      ['a.JpEg', 'image/jpeg', createJpeg()],
      ['../../é 語.v2.png', 'image/png', createPng()],
    ])('accepts an image named %s and detects %s from its first bytes', async (name, type, bytes) => {
      const { images } = await createProduct(admin, [{ bytes, name }]);
      expect(await downloadImage(images[0])).toEqual({ type, bytes });
    });
  });

  describe('with invalid fields', () => {
    it('reports all of them together with invalid images and with files in other fields', async () => {
      const response = await sendInvalidForm({ name: ' ', price: 'cheap' }, [
        { bytes: createPng(), name: 'a.gif' },
        { bytes: createPng(), name: 'b.png', field: 'avatar' },
        { bytes: createPng(), name: 'c.png', field: '__proto__' },
      ]);
      const misplaced = 'files belong in the field images';
      const invalid = { price: NO_NUMBER, images: EXTENSION, avatar: misplaced, ['__proto__']: misplaced };
      expectInvalid(response, { ...REQUIRED, ...invalid });
    });

    it.each<[string, string | string[], string]>([
      ['name', ' \t\n\u00a0\u2003', REQUIRED.name],
      ['name', ['1', '2'], REQUIRED.name],
      ['name', 'Kue\0lapis', 'product name contains a character that is not allowed'],
      ['description', '   ', REQUIRED.description],
      ['price', '  ', REQUIRED.price],
      ['price', ['1', '2'], REQUIRED.price],
      ...NO_NUMBERS.map((price): [string, string, string] => ['price', price, NO_NUMBER]),
      ['price', '-1', BOUNDS],
      ['price', '1000000000000', BOUNDS],
      ['images', 'cake.png', 'images should be files'],
    ])('rejects %s %j: %s', async (field, value, message) => {
      const response = await sendInvalidForm({ ...CAKE, [field]: value });
      expectInvalid(response, { [field]: message });
    });
  });

  describe('with invalid files', () => {
    it.each<[string, FormFile, string]>([
      [
        'an SVG named .png',
        { bytes: SVG_WITH_SCRIPT, name: 'é 語.png' },
        'é 語.png is not a png or jpg file',
      ],
      ['an empty file', { bytes: Buffer.alloc(0), name: 'a.png' }, 'a.png is not a png or jpg file'],
      ['a PNG named .gif', { bytes: createPng(), name: 'a.gif' }, EXTENSION],
      ['a PNG named ..', { bytes: createPng(), name: '..' }, EXTENSION],
      ['a PNG named x/', { bytes: createPng(), name: 'x/' }, EXTENSION],
      [
        'no PNG, but named folder/a.png',
        { bytes: SVG_WITH_SCRIPT, name: 'folder/a.png' },
        'a.png is not a png or jpg file',
      ],
      ['a PNG named .png.html', { bytes: createPng(), name: 'a.png.html' }, EXTENSION],
    ])('rejects %s and stores no image', async (_, file, message) => {
      const response = await sendInvalidForm(CAKE, [...createPictures(1), file]);
      expectInvalid(response, { images: message });
    });

    it('rejects 6 or 21 files with 400, and a file of 5 MiB and one byte with 413', async () => {
      const details = { images: 'each product can only have 5 images at max' };
      for (const count of [6, 21]) expectInvalid(await sendInvalidForm(CAKE, createPictures(count)), details);
      const files = [...createPictures(4), { bytes: createNoisyPng(5 * MIB + 1), name: 'big.png' }];
      expectFailure(await sendInvalidForm(CAKE, files), 413, 'an image can have 5 MiB at max');
    });
  });

  describe('with an incomplete or unusual body', () => {
    const TYPE = 'multipart/form-data; boundary=b';
    const NAME_FIELD = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nKue\r\n';
    const FILE_HEAD = '--b\r\nContent-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n';
    it.each([
      ['no boundary', 'multipart/form-data', `${NAME_FIELD}--b--\r\n`],
      ['no final boundary', TYPE, NAME_FIELD],
      ['a file cut short', TYPE, `${FILE_HEAD}\x89PNG`],
      ['a part without a name', TYPE, '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
    ])('rejects a form with %s as malformed', async (_, type, text) => {
      const response = await admin
        .post('/api/products')
        .set('Content-Type', type)
        .set('Content-Length', String(Buffer.byteLength(text)))
        .send(text);
      expectFailure(response, 400, MESSAGES.malformedRequest);
      await expectNothingStored();
    });

    it.each([
      'form-data; name="images"; filename="my "best" cake.png"',
      'form-data; name="images"; filename="a.png";',
      'form-data; name="images"; filename=kue lapis.png',
      'form-data; name="images"; filename="a.png',
      'form-data; name="images"; filename*=UTF-8\'\'%zz.png',
      'attachment; name="images"; filename="a.png"',
      '',
    ])('rejects a form in which the header of a file is malformed: %s', async (disposition) => {
      const pieces = buildFormPieces(
        CAKE,
        createPictures(2).map(({ bytes }) => bytes),
      );
      const good = 'form-data; name="images"; filename="1.png"';
      // Binary text, because pictures are not UTF-8.
      const text = Buffer.concat(pieces).toString('latin1');
      const form = Buffer.from(text.replace(good, disposition), 'latin1');
      expect(await upload(admin, [form])).toBe(400);
      await expectNothingStored();
    });

    it.each([
      ['spaces after a delimiter', ' '],
      ['a delimiter in the content of a part', 'x'],
    ])('rejects a form with %s, which the parser would cut', async (_, suffix) => {
      const form = Buffer.concat(buildFormPieces({ ...CAKE, note: 'x' }, [])).toString();
      const end = form.lastIndexOf('\r\n', form.lastIndexOf('name="note"'));
      expect(await upload(admin, [Buffer.from(form.slice(0, end) + suffix + form.slice(end))])).toBe(400);
      await expectNothingStored();
    });

    it('accepts a form that arrives in pieces of 7 bytes', async () => {
      const form = Buffer.concat(
        buildFormPieces(
          CAKE,
          createPictures(2).map(({ bytes }) => bytes),
        ),
      );
      const chunks = Array.from({ length: Math.ceil(form.length / 7) }, (_, n) =>
        form.subarray(n * 7, n * 7 + 7),
      );
      expect(await upload(admin, chunks)).toBe(201);
    });

    it('ignores an empty text in the field images, and an empty file input, which browsers send as a file without a name', async () => {
      const pieces = buildFormPieces({ ...CAKE, images: '' }, [{ bytes: Buffer.alloc(0), name: '' }]);
      const request = admin.post('/api/products').set('Content-Type', FORM_TYPE);
      const response = await request.send(Buffer.concat(pieces).toString()).expect(201);
      expect(productOf(response).images).toEqual([]);
    });

    it.each<[string, FormFields, number, string]>([
      ['a field of more than 64 KiB', { unknown: 'x'.repeat(64 * 1024 + 1) }, 413, MESSAGES.tooLarge],
      ['more than 50 fields', { unknown: Array.from({ length: 51 }, () => 'x') }, 413, MESSAGES.tooLarge],
      ['a field name of more than 1 KiB', { ['x'.repeat(1025)]: 'x' }, 413, MESSAGES.tooLarge],
      ['a deeply nested field name', { [`x${'[a]'.repeat(50)}`]: 'x' }, 413, MESSAGES.tooLarge],
      ['a huge index in a field name', { 'x[99999999]': 'x' }, 413, MESSAGES.tooLarge],
    ])('rejects a form with %s', async (_, fields, status, message) => {
      expectFailure(await sendInvalidForm({ ...CAKE, ...fields }), status, message);
    });

    it('stores neither a product nor a file, and logs no error, if the client disconnects in the middle of a file', async () => {
      const pieces = buildFormPieces(CAKE, [createNoisyPng(5 * MIB)]);
      expect(await upload(admin, pieces, { disconnectAfterBytes: 2 * MIB })).toBeNull();
      await until('the request is logged', () => service.log.some(({ aborted }) => aborted === true));
      await expectNothingStored();
      expect(service.listErrors()).toEqual([]);
    });
  });
});
