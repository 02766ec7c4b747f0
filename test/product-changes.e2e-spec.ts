import { statusesOf } from './support/accounts.js';
import { buildFailure, NOT_FOUND } from './support/failure.js';
import { jpeg, png, svgNamedPng } from './support/pictures.js';
import {
  BREAD,
  createProduct,
  type FormFields,
  type FormFile,
  imageStatus,
  type LedgerRow,
  listProducts,
  pictures,
  type ProductAnswer,
  productOf,
  readLedger,
  readProduct,
  sendForm,
} from './support/products.js';
import { useAdmin, useService, withService } from './support/service.js';
import { until } from './support/wait.js';

const UNKNOWN = 2_000_000_000;
const REMOVED = 'images.removed[]';
const REQUIRED = {
  name: 'name is required',
  description: 'description is required',
  price: 'price is required',
  'images.removed': 'images.removed is required',
};

const service = useService();
const admin = useAdmin(service);

// Unlike the message of other operations, this one has a plural.
const buildUpdateFailure = (details: Readonly<Record<string, string>>) =>
  buildFailure(400, 'validation errors', details);
const isAttached = ({ state }: LedgerRow) => state === 'attached';
const update = (id: number, fields: FormFields, files: readonly FormFile[] = []) =>
  sendForm(admin.put(`/api/products/${id}`), fields, files);

/** Sends an update that must be rejected with 400 and change nothing. @returns the body of the response */
async function rejectUpdate(
  product: ProductAnswer,
  fields: FormFields,
  files: readonly FormFile[],
): Promise<unknown> {
  const before = await readLedger(service.database);
  const answer = await update(product.id, fields, files).expect(400);
  const images = product.images?.length === 0 ? null : product.images;
  expect(await readProduct(admin, product.id)).toEqual({ ...product, images });
  // Images of earlier tests may be removed meanwhile.
  const after = await readLedger(service.database);
  expect(after.filter(isAttached)).toEqual(before.filter(isAttached));
  expect(before).toEqual(expect.arrayContaining(after));
  return answer.body;
}

describe('PUT /api/products/{product_id}', () => {
  it('returns 200 with the new fields, and the remaining images before the new ones (contract 4.7)', async () => {
    const { id, images } = await createProduct(admin, pictures(3));
    const [first = '', second = '', third = ''] = images;
    const answer = await update(id, { ...BREAD, name: ' Roti\n', [REMOVED]: second, role: 'ADMIN' }, [
      { bytes: jpeg('new'), name: 'new.jpg' },
      { bytes: png('newer'), name: 'newer.png' },
    ]).expect(200);
    const added = [expect.stringMatching(/\.jpg$/), expect.stringMatching(/\.png$/)] as string[];
    const product = { id, name: 'Roti', description: 'Soft', price: 12500, images: [first, third, ...added] };
    expect(answer.body).toEqual({ status: 'success', data: { products: product } });
    expect(await readProduct(admin, id)).toEqual(productOf(answer));
  });

  it('returns an empty list without images, and the product shows null', async () => {
    const { id, images } = await createProduct(admin, pictures(1));
    const answer = await update(id, { ...BREAD, [REMOVED]: images }).expect(200);
    expect(productOf(answer).images).toEqual([]);
    expect((await readProduct(admin, id)).images).toBeNull();
  });

  it('treats a URL that the product does not have as already removed', async () => {
    const other = await createProduct(admin, pictures(1));
    const { id, images } = await createProduct(admin, pictures(2));
    const unknown = ['http://bakery.test/api/images/nothing.png', 'nonsense', ' ', '\0', ...other.images];
    const fields = { ...BREAD, [REMOVED]: ['', ...unknown, images[0] ?? ''] };
    for (let time = 0; time < 2; time += 1)
      expect(productOf(await update(id, fields).expect(200)).images).toEqual(images.slice(1));
    expect(await readProduct(admin, other.id)).toEqual(other);
  });

  it('reports all failing fields together, including a file with another extension and a file in another field', async () => {
    const product = await createProduct(admin, pictures(1));
    const body = await rejectUpdate(product, {}, [
      ...pictures(1),
      { bytes: png(), name: 'a.gif' },
      { bytes: png(), name: 'b.png', field: 'picture' },
    ]);
    const images = 'invalid file format, only .png or .jpg files are accepted';
    const picture = 'files belong in the field images';
    expect(body).toEqual(buildUpdateFailure({ ...REQUIRED, images, picture }));
  });

  it('rejects a file named .png whose first bytes are those of another format', async () => {
    const product = await createProduct(admin);
    const body = await rejectUpdate(product, BREAD, [{ bytes: svgNamedPng(), name: 'a.png' }]);
    expect(body).toEqual(buildUpdateFailure({ images: 'a.png is not a png or jpg file' }));
  });

  it('accepts up to 5 images, and counts those that the same request removes and adds', async () => {
    const product = await createProduct(admin, pictures(5));
    const remove = (count: number) => ({ ...BREAD, [REMOVED]: ['', ...product.images.slice(0, count)] });
    const tooMany = buildFailure(400, 'each product can only have 5 images at max');
    expect(await rejectUpdate(product, remove(1), pictures(2))).toEqual(tooMany);
    expect(await rejectUpdate(product, remove(5), pictures(6))).toEqual(tooMany);
    const answer = await update(product.id, remove(5), pictures(5)).expect(200);
    expect(productOf(answer).images).toHaveLength(5);
  });

  it('returns 404 for an unknown product without any upload, after it has validated the fields', async () => {
    const before = await readLedger(service.database);
    expect((await update(UNKNOWN, BREAD, pictures(1)).expect(404)).body).toEqual(NOT_FOUND);
    expect(before).toEqual(expect.arrayContaining(await readLedger(service.database)));
    const answer = await update(UNKNOWN, { ...BREAD, price: 'x' }).expect(400);
    expect(answer.body).toEqual(buildUpdateFailure({ price: 'price should be a number' }));
  });
});

it('a change of PUBLIC_URL moves the images, which can then be removed by their current and by their earlier URL', async () => {
  const { id, images } = await createProduct(admin, pictures(3));
  const { database, dataDir } = service;
  const NEW_URL = 'https://shop.example';
  const moved = images.map((url) => url.replace('http://bakery.test', NEW_URL));
  await withService({ database, settings: { PUBLIC_URL: NEW_URL, DATA_DIR: dataDir } }, async (later) => {
    const client = await later.admin();
    expect((await readProduct(client, id)).images).toEqual(moved);
    expect((await listProducts(client, id - 1))[0]?.images).toEqual(moved);
    expect(await imageStatus(client, moved[0])).toBe(200);
    const fields = { ...BREAD, [REMOVED]: [moved[0] ?? '', images[1] ?? ''] };
    const answer = await sendForm(client.put(`/api/products/${id}`), fields).expect(200);
    expect(productOf(answer).images).toEqual([moved[2]]);
    await until('the image is gone from the host', async () => (await imageStatus(client, moved[0])) === 404);
  });
});

describe('DELETE /api/products/{product_id}', () => {
  it('returns 204 without a body and removes the product and its images at the host (contract 4.8)', async () => {
    const other = await createProduct(admin, pictures(3));
    const { id, images } = await createProduct(admin, pictures(3));
    const readStatuses = (urls: string[]) => Promise.all(urls.map((url) => imageStatus(admin, url)));
    expect(await readStatuses(images)).toEqual([200, 200, 200]);

    const answer = await admin.delete(`/api/products/${id}`).expect(204);
    expect(answer.text).toBe('');
    expect(answer.headers['content-type']).toBeUndefined();

    await admin.get(`/api/products/${id}`).expect(404);
    expect(await listProducts(admin, other.id - 1)).toEqual([other]);
    await until('its images are gone from the host', async () =>
      (await readStatuses(images)).every((status) => status === 404),
    );
    await until('its rows in the ledger are gone', async () =>
      (await readLedger(service.database)).every(isAttached),
    );
    expect(await readStatuses(other.images)).toEqual([200, 200, 200]);
  });

  it('succeeds for exactly one of ten parallel requests', async () => {
    const { id } = await createProduct(admin, pictures(3));
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin.delete(`/api/products/${id}`)));
    expect(statusesOf(answers)).toEqual([204, ...Array<number>(9).fill(404)]);
  });

  it.each(['2000000000', 'abc'])('returns the documented 404 for the unknown product %s', async (id) => {
    expect((await admin.delete(`/api/products/${id}`).expect(404)).body).toEqual(NOT_FOUND);
  });
});
