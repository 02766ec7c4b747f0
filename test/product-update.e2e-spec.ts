import type { Client } from './support/client.js';
import { jpeg, png, svgNamedPng } from './support/pictures.js';
import {
  BREAD,
  createProduct,
  fail,
  form,
  type FormFields,
  type FormFile,
  ledger,
  type LedgerRow,
  NOT_FOUND,
  pictures,
  type ProductAnswer,
  productOf,
} from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const UNKNOWN = 2_000_000_000;
const REMOVED = 'images.removed[]';
const { [REMOVED]: _none, ...FIELDS } = BREAD;
const TOO_MANY = fail(400, 'each product can only have 5 images at max');
const REQUIRED = {
  name: 'name is required',
  description: 'description is required',
  price: 'price is required',
  'images.removed': 'images.removed is required',
};

function invalid(details: Readonly<Record<string, string>>): object {
  return fail(400, 'validation errors', details);
}

function isAttached({ state }: LedgerRow): boolean {
  return state === 'attached';
}

describe('updating a product', () => {
  let service: TestService;
  let admin: Client;

  beforeAll(async () => {
    service = await startService();
    admin = await service.admin();
  });

  afterAll(() => service.stop());

  function update(id: number | string, fields: FormFields, files: readonly FormFile[] = []) {
    return form(admin.put(`/api/products/${id}`), fields, files);
  }

  async function shown(id: number): Promise<ProductAnswer> {
    return productOf(await admin.get(`/api/products/${id}`).expect(200));
  }

  /** Sends an update that must fail without any change. */
  async function refused(
    product: ProductAnswer,
    fields: FormFields,
    files: readonly FormFile[] = [],
    status = 400,
  ): Promise<unknown> {
    const before = await ledger(service.database);
    const answer = await update(product.id, fields, files).expect(status);
    const images = product.images?.length === 0 ? null : product.images;
    expect(await shown(product.id)).toEqual({ ...product, images });
    // Images of earlier tests may be removed meanwhile.
    const after = await ledger(service.database);
    expect(after.filter(isAttached)).toEqual(before.filter(isAttached));
    expect(before).toEqual(expect.arrayContaining(after));
    return answer.body;
  }

  async function isServed(url: string): Promise<boolean> {
    const { status } = await service.client().get(new URL(url).pathname);
    return status === 200;
  }

  describe('with a valid form', () => {
    it('returns 200 with the new fields, and the remaining images before the new ones (contract 4.7)', async () => {
      const { id, images } = await createProduct(admin, pictures(3));
      const [first = '', second = '', third = ''] = images;
      const answer = await update(id, { ...BREAD, name: ' Roti\n', [REMOVED]: second, role: 'ADMIN' }, [
        { bytes: jpeg('new'), name: 'new.jpg' },
        { bytes: png('newer'), name: 'newer.png' },
      ]).expect(200);
      const added = [expect.stringMatching(/\.jpg$/), expect.stringMatching(/\.png$/)] as string[];
      expect(answer.body).toEqual({
        status: 'success',
        data: { products: { ...FIELDS, id, price: 12500, images: [first, third, ...added] } },
      });
      expect(await shown(id)).toEqual(productOf(answer));
    });

    it('deletes removed images at the image host and leaves the others', async () => {
      const { id, images } = await createProduct(admin, pictures(2));
      const [kept = '', removed = ''] = images;
      await update(id, { ...BREAD, [REMOVED]: removed }).expect(200);
      await until('the removed image is gone', async () => !(await isServed(removed)));
      await until('its row in the ledger is gone', async () =>
        (await ledger(service.database)).every(isAttached),
      );
      expect(await isServed(kept)).toBe(true);
    });

    it('returns an empty list without images, and the product shows null', async () => {
      const { id, images } = await createProduct(admin, pictures(1));
      const answer = await update(id, { ...BREAD, [REMOVED]: images }).expect(200);
      expect(productOf(answer).images).toEqual([]);
      expect((await shown(id)).images).toBeNull();
    });
  });

  describe('images.removed', () => {
    it('treats a URL that the product does not have as already removed', async () => {
      const other = await createProduct(admin, pictures(1));
      const { id, images } = await createProduct(admin, pictures(2));
      const unknown = ['http://bakery.test/api/images/nothing.png', 'nonsense', ' ', '\0', ...other.images];
      const fields = { ...BREAD, [REMOVED]: ['', ...unknown, images[0] ?? ''] };
      const first = await update(id, fields).expect(200);
      expect(productOf(first).images).toEqual(images.slice(1));
      expect((await update(id, fields).expect(200)).body).toEqual(first.body);
      expect(await shown(other.id)).toEqual(other);
    });
  });

  describe('with invalid fields or files', () => {
    it('reports all failing fields together, images included', async () => {
      const product = await createProduct(admin, pictures(1));
      const body = await refused(product, {}, [{ bytes: svgNamedPng(), name: 'a.png' }]);
      expect(body).toEqual(invalid({ ...REQUIRED, images: 'a.png is not a png or jpg file' }));
    });

    it('rejects a file with another extension and a file in another field', async () => {
      const product = await createProduct(admin, pictures(1));
      const body = await refused(product, BREAD, [
        ...pictures(1),
        { bytes: png(), name: 'a.gif' },
        { bytes: png(), name: 'b.png', field: 'picture' },
      ]);
      const images = 'invalid file format, only .png or .jpg files are accepted';
      expect(body).toEqual(invalid({ images, picture: 'files belong in the field images' }));
    });

    it.each([
      [5, 1, 2],
      [0, 0, 6],
    ])('rejects more than 5 images: %d - %d removed + %d new', async (has, goes, comes) => {
      const product = await createProduct(admin, pictures(has));
      const fields = { ...BREAD, [REMOVED]: goes === 0 ? '' : product.images.slice(0, goes) };
      expect(await refused(product, fields, pictures(comes))).toEqual(TOO_MANY);
    });

    it.each([
      [5, 5, 5],
      [4, 0, 1],
    ])('accepts up to 5 images: %d - %d removed + %d new', async (has, goes, comes) => {
      const { id, images } = await createProduct(admin, pictures(has));
      const fields = { ...BREAD, [REMOVED]: goes === 0 ? '' : images.slice(0, goes) };
      const answer = await update(id, fields, pictures(comes)).expect(200);
      expect(productOf(answer).images).toHaveLength(has - goes + comes);
    });
  });

  it('returns 404 for an unknown product without any upload', async () => {
    const before = await ledger(service.database);
    expect((await update(UNKNOWN, BREAD, pictures(1)).expect(404)).body).toEqual(NOT_FOUND);
    expect(before).toEqual(expect.arrayContaining(await ledger(service.database)));
  });

  it('validates the fields before it looks up the product', async () => {
    const answer = await update(UNKNOWN, { ...BREAD, price: 'x' }).expect(400);
    expect(answer.body).toEqual(invalid({ price: 'price should be a number' }));
  });
});
