import { built } from './support/built.js';
import { buildFailure, buildValidationFailure } from './support/failure.js';
import { jpeg, padded, png, svgNamedPng } from './support/pictures.js';
import {
  CAKE,
  countProducts,
  createProduct,
  type FormFields,
  type FormFile,
  pictures,
  productOf,
  readLedger,
  readProduct,
  sendForm,
} from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { useAdmin, useService } from './support/service.js';
import { FORM_TYPE, formPieces, upload } from './support/upload-load.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const NO_NUMBER = 'price should be a number';
const BOUNDS = 'price should be from 0 to 999999999999.99';
const EXTENSION = 'image extension is not supported';
const REQUIRED = {
  name: 'product name is required',
  description: 'product description is required',
  price: 'product price cannot be empty',
};
const MALFORMED = buildFailure(400, 'malformed request');

const service = useService();
const admin = useAdmin(service);

beforeEach(() => service.database.pool.query('DELETE FROM images; DELETE FROM products'));

/** Sends a form that must be rejected and store nothing. @returns the body of the response */
async function rejectForm(
  fields: FormFields,
  files: readonly FormFile[] = [],
  status = 400,
): Promise<unknown> {
  const answer = await sendForm(admin.post('/api/products'), fields, files).expect(status);
  await expectNothingStored();
  return answer.body;
}

async function expectNothingStored(): Promise<void> {
  expect(await countProducts(service.database)).toBe(0);
  expect(await readLedger(service.database)).toEqual([]);
}

describe('POST /api/products', () => {
  /** Downloads an image from the service. */
  async function downloadImage(url = ''): Promise<{ type: string; bytes: Buffer }> {
    const answer = await service.client().get(new URL(url).pathname).expect(200);
    return { type: String(answer.headers['content-type']), bytes: answer.body as Buffer };
  }

  describe('with a valid form', () => {
    it('returns 201 with the product and the URLs of its images, and stores exactly that (contract 4.6)', async () => {
      const answer = await sendForm(admin.post('/api/products'), CAKE, [
        { bytes: png('a'), name: 'a.png' },
        { bytes: jpeg('b'), name: 'b.jpg', field: 'images[]' },
      ]).expect(201);
      const product = productOf(answer);
      const images = [
        expect.stringMatching(/^http:\/\/bakery\.test\/api\/images\/[0-9a-f-]{36}\.png$/),
        expect.stringMatching(/\.jpg$/),
      ] as string[];
      const data = { products: { ...CAKE, id: product.id, price: 185000, images } };
      expect(answer.body).toEqual({ status: 'success', data });
      const { rows } = await service.database.pool.query('SELECT id, name, description, price FROM products');
      expect(rows).toEqual([{ ...CAKE, id: product.id, price: '185000.00' }]);
      expect(await downloadImage(product.images?.[0])).toEqual({ type: 'image/png', bytes: png('a') });
      expect(await downloadImage(product.images?.[1])).toEqual({ type: 'image/jpeg', bytes: jpeg('b') });
      expect(await readProduct(admin, product.id)).toEqual(product);
    });

    it('stores 5 images of up to 5 MiB in the order sent (contract 12.5)', async () => {
      const files = [5 * MIB, 200, 300_000, 100, 5 * MIB].map((size, index) => ({
        bytes: padded(png(index), size),
        name: `${index}.png`,
      }));
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

    it('accepts a name of 255 and a description of 10,000 four-byte characters', async () => {
      const longest = { name: '🍰'.repeat(255), description: '🍰'.repeat(10_000), price: '1' };
      const { id } = await createProduct(admin, [], longest);
      expect(await readProduct(admin, id)).toMatchObject({ ...longest, price: 1 });
    });

    it.each([
      ['0', 0],
      ['007.50', 7.5],
      ['999999999999.99', 999_999_999_999.99],
    ])('stores a price of %s as %d (contract 12.2)', async (price, kept) => {
      const { id } = await createProduct(admin, [], { ...CAKE, price });
      expect((await readProduct(admin, id)).price).toBe(kept);
    });

    it.each<[string, FormFile, string]>([
      ['.JpEg', { bytes: jpeg(), name: 'a.JpEg' }, 'image/jpeg'],
      ['a JPEG named .png', { bytes: jpeg(), name: 'a.png' }, 'image/jpeg'],
      ['a name with dots, slashes and letters', { bytes: png(), name: '../../é 語.v2.png' }, 'image/png'],
    ])('detects the type of an image from its first bytes: %s', async (_, file, type) => {
      const { images } = await createProduct(admin, [file]);
      expect(await downloadImage(images[0])).toEqual({ type, bytes: file.bytes });
    });
  });

  describe('with invalid fields', () => {
    it('reports all failing fields together, images included', async () => {
      const svg = { bytes: svgNamedPng(), name: 'a.png' };
      const details = { ...REQUIRED, price: NO_NUMBER, images: 'a.png is not a png or jpg file' };
      expect(await rejectForm({ name: ' ', price: 'cheap' }, [svg])).toEqual(buildValidationFailure(details));
    });

    it.each<[string, string | string[], string]>([
      ['name', ' \t\n\u00a0\u2003', REQUIRED.name],
      ['name', ['1', '2'], REQUIRED.name],
      ['name', 'Kue\0lapis', 'product name contains a character that is not allowed'],
      ['name', 'x'.repeat(256), 'product name can have 255 characters at max'],
      ['description', '   ', REQUIRED.description],
      ['description', 'x'.repeat(10_001), 'product description can have 10000 characters at max'],
      ['price', '  ', REQUIRED.price],
      ['price', ['1', '2'], REQUIRED.price],
      ...['abc', '1.234', '.5', '5.', '+1', '1e3', '1,000', '0x10', 'Infinity', '٣'].map(
        (price): [string, string, string] => ['price', price, NO_NUMBER],
      ),
      ['price', '-1', BOUNDS],
      ['price', '1000000000000', BOUNDS],
      ['images', 'cake.png', 'images should be files'],
    ])('rejects %s %j: %s', async (field, value, message) => {
      expect(await rejectForm({ ...CAKE, [field]: value })).toEqual(
        buildValidationFailure({ [field]: message }),
      );
    });
  });

  describe('with invalid files', () => {
    it.each<[string, FormFile, string]>([
      ['an SVG named .png', { bytes: svgNamedPng(), name: 'é 語.png' }, 'é 語.png is not a png or jpg file'],
      ['an empty file', { bytes: Buffer.alloc(0), name: 'a.png' }, 'a.png is not a png or jpg file'],
      ['a PNG named .gif', { bytes: png(), name: 'a.gif' }, EXTENSION],
      ['a PNG named .png.html', { bytes: png(), name: 'a.png.html' }, EXTENSION],
    ])('rejects %s before any upload', async (_, file, message) => {
      expect(await rejectForm(CAKE, [...pictures(1), file])).toEqual(
        buildValidationFailure({ images: message }),
      );
    });

    it('rejects files in other fields together with the invalid fields', async () => {
      const body = await rejectForm({ ...CAKE, price: '-1' }, [
        { bytes: png(), name: 'a.png', field: 'avatar' },
        { bytes: png(), name: 'c.png', field: '__proto__' },
        { bytes: png(), name: 'd.gif' },
      ]);
      const misplaced = 'files belong in the field images';
      const details = { price: BOUNDS, avatar: misplaced, ['__proto__']: misplaced, images: EXTENSION };
      expect(body).toEqual(buildValidationFailure(details));
    });

    it('rejects 6 files', async () => {
      const details = { images: 'each product can only have 5 images at max' };
      expect(await rejectForm(CAKE, pictures(6))).toEqual(buildValidationFailure(details));
    });

    it('rejects a file of 5 MiB and one byte with 413', async () => {
      const files = [...pictures(4), { bytes: padded(png(), 5 * MIB + 1), name: 'big.png' }];
      expect(await rejectForm(CAKE, files, 413)).toEqual(buildFailure(413, 'an image can have 5 MiB at max'));
    });
  });

  describe('with a body that is not a complete form', () => {
    it('treats a missing body as an empty form and does not count it as an upload', async () => {
      const { uploads } = await built('src/common/metrics.js');
      const countUploads = async (): Promise<number | undefined> =>
        (await uploads.get()).values.find(({ labels }) => labels.outcome === 'received')?.value;
      const before = await countUploads();
      // Without a Content-Length, as curl sends it; HTTP libraries send a Content-Length of 0.
      const [answer] = await sendRaw(
        service.url,
        'POST /api/products HTTP/1.1\r\nHost: bakery.test\r\nConnection: close\r\n' +
          `Cookie: accessToken=${admin.cookie('accessToken')}\r\n\r\n`,
      );
      expect(JSON.parse(answer?.body ?? '')).toEqual(buildValidationFailure(REQUIRED));
      expect(await countUploads()).toBe(before);
      await createProduct(admin);
      expect(await countUploads()).toBe(Number(before) + 1);
    });

    const FIELD = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nKue\r\n';
    const WHOLE = `${FIELD}--b--\r\n`;
    const FORM = 'multipart/form-data; boundary=b';

    const file = 'Content-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n';
    it.each([
      ['no boundary', 'multipart/form-data', WHOLE],
      ['no final boundary', FORM, FIELD],
      ['a file cut short', FORM, `${FIELD}--b\r\n${file}\x89PNG`],
      ['a part without a name', FORM, '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
    ])('rejects a form with %s as malformed', async (_, type, text) => {
      const answer = await admin
        .post('/api/products')
        .set('Content-Type', type)
        .set('Content-Length', String(Buffer.byteLength(text)))
        .send(text)
        .expect(400);
      expect(answer.body).toEqual(MALFORMED);
      await expectNothingStored();
    });

    it('ignores an empty file input, which browsers send as a file without a name', async () => {
      const pieces = formPieces({ ...CAKE, images: '' }, [{ bytes: Buffer.alloc(0), name: '' }]);
      const request = admin.post('/api/products').set('Content-Type', FORM_TYPE);
      const answer = await request.send(Buffer.concat(pieces).toString()).expect(201);
      expect(productOf(answer).images).toEqual([]);
    });

    it.each<[string, Record<string, string | string[]>, number]>([
      ['a field of 65 KiB', { unknown: 'x'.repeat(65 * 1024 + 1) }, 413],
      ['51 fields', { unknown: Array.from({ length: 51 }, () => 'x') }, 413],
      ['a field name of more than 1 KiB', { ['x'.repeat(1025)]: 'x' }, 413],
      ['a field name nested too deep', { [`x${'[a]'.repeat(50)}`]: 'x' }, 400],
      ['a field name with a huge index', { 'x[99999999]': 'x' }, 400],
    ])('rejects a form with %s', async (_, fields, status) => {
      const body = await rejectForm({ ...CAKE, ...fields }, [], status);
      expect(body).toEqual(status === 413 ? buildFailure(413, 'request is too large') : MALFORMED);
    });

    it('stores neither a product nor a file if the client disconnects in the middle of a file', async () => {
      const pieces = formPieces(CAKE, [padded(png(), 5 * MIB)]);
      expect(await upload(admin, pieces, { abortAfter: 2 * MIB })).toBeNull();
      await until('the request is logged', () => service.log.some(({ aborted }) => aborted === true));
      await expectNothingStored();
      expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
    });
  });
});
