import type { Response, Test } from 'supertest';
import { expectFailure, MESSAGES } from './support/failure.js';
import { createJpeg, createPng, SVG_WITH_SCRIPT } from './support/pictures.js';
import {
  BREAD,
  CAKE,
  createPictures,
  createProduct,
  type FormFields,
  type FormFile,
  listProducts,
  productOf,
  readImageStatus,
  readLedger,
  readProduct,
  sendForm,
} from './support/products.js';
import { useService } from './support/service.js';
import { inParallel, sortedStatusesOf, until } from './support/wait.js';

const UNKNOWN_ID = 2_000_000_000;
const REMOVED = 'images.removed[]';
/** Message for invalid fields of an update. Other operations say "validation error". */
const INVALID = 'validation errors';
const REQUIRED = {
  name: 'name is required',
  description: 'description is required',
  price: 'price is required',
  'images.removed': 'images.removed is required',
};

const service = await useService();
const admin = await service.admin();

const update = (id: number, fields: FormFields, files: readonly FormFile[] = []) =>
  sendForm(admin.put(`/api/products/${id}`), fields, files);

/** Sends an update that must be rejected, and asserts that neither the product nor its images change. */
async function sendRejectedUpdate(id: number, request: Test): Promise<Response> {
  const product = await readProduct(admin, id);
  const response = await sendWithoutUpload(request);
  expect(await readProduct(admin, id)).toEqual(product);
  return response;
}

/** Sends a request and asserts that it leaves no image behind. Images of earlier tests may be removed meanwhile. */
async function sendWithoutUpload(request: Test): Promise<Response> {
  const images = await readLedger(service.database);
  const response = await request;
  expect(images).toEqual(expect.arrayContaining(await readLedger(service.database)));
  return response;
}

describe('PUT /api/products/{product_id}', () => {
  it('trims fields, ignores unknown ones, and returns the remaining images before the new ones (contract 4.7)', async () => {
    const { id, images } = await createProduct(admin, createPictures(3));
    const [first = '', second = '', third = ''] = images;
    const response = await update(id, { ...BREAD, name: ' Roti\n', [REMOVED]: second, role: 'ADMIN' }, [
      { bytes: createJpeg('new'), name: 'new.jpg' },
      { bytes: createPng('newer'), name: 'newer.png' },
    ]).expect(200);
    const added = [expect.stringMatching(/\.jpg$/), expect.stringMatching(/\.png$/)] as string[];
    const product = { id, name: 'Roti', description: 'Soft', price: 12500, images: [first, third, ...added] };
    expect(response.body).toEqual({ status: 'success', data: { products: product } });
    expect(await readProduct(admin, id)).toEqual(productOf(response));
  });

  it('returns an empty list of images after the removal of all images, for which GET returns null', async () => {
    const { id, images } = await createProduct(admin, createPictures(1));
    const response = await update(id, { ...BREAD, [REMOVED]: images }).expect(200);
    expect(productOf(response).images).toEqual([]);
    expect((await readProduct(admin, id)).images).toBeNull();
  });

  it('treats a URL that the product does not have as already removed', async () => {
    const other = await createProduct(admin, createPictures(1));
    const { id, images } = await createProduct(admin, createPictures(2));
    const unknown = ['', 'http://bakery.test/api/images/nothing.png', 'nonsense', ' ', '\0', ...other.images];
    const fields = { ...BREAD, [REMOVED]: [...unknown, images[0] ?? ''] };
    for (let time = 0; time < 2; time += 1)
      expect(productOf(await update(id, fields).expect(200)).images).toEqual(images.slice(1));
    expect(await readProduct(admin, other.id)).toEqual(other);
  });

  it('reports all invalid fields and files together, and rejects an SVG named .png', async () => {
    const { id } = await createProduct(admin, createPictures(1));
    const files = [
      ...createPictures(1),
      { bytes: createPng(), name: 'a.gif' },
      { bytes: createPng(), name: 'b.png', field: 'picture' },
    ];
    const response = await sendRejectedUpdate(id, update(id, {}, files));
    const images = 'invalid file format, only .png or .jpg files are accepted';
    const picture = 'files belong in the field images';
    expectFailure(response, 400, INVALID, { ...REQUIRED, images, picture });
    const svg = update(id, BREAD, [{ bytes: SVG_WITH_SCRIPT, name: 'a.png' }]);
    const details = { images: 'a.png is not a png or jpg file' };
    expectFailure(await sendRejectedUpdate(id, svg), 400, INVALID, details);
  });

  it('accepts at most 5 images after the removals and additions of the same request', async () => {
    const { id, images } = await createProduct(admin, createPictures(5));
    const remove = (count: number) => ({ ...BREAD, [REMOVED]: images.slice(0, count) });
    const tooMany = 'each product can only have 5 images at max';
    expectFailure(await sendRejectedUpdate(id, update(id, remove(1), createPictures(2))), 400, tooMany);
    expectFailure(await sendRejectedUpdate(id, update(id, remove(5), createPictures(6))), 400, tooMany);
    const response = await update(id, remove(5), createPictures(5)).expect(200);
    expect(productOf(response).images).toHaveLength(5);
  });

  it('returns 404 for an unknown product and uploads nothing, but reports invalid fields first', async () => {
    expectFailure(
      await sendWithoutUpload(update(UNKNOWN_ID, BREAD, createPictures(1))),
      404,
      MESSAGES.notFound,
    );
    const invalid = await update(UNKNOWN_ID, { ...BREAD, price: 'x' });
    expectFailure(invalid, 400, INVALID, { price: 'price should be a number' });
  });
});

describe('PUT /api/products/{product_id} with If-Match', () => {
  const etagOf = async (id: number): Promise<string> => {
    const { etag } = (await admin.get(`/api/products/${id}`).expect(200)).headers as { etag?: string };
    return etag ?? '';
  };
  const updateIf = (etag: string, id: number, fields: FormFields = BREAD, files: FormFile[] = []) =>
    sendForm(admin.put(`/api/products/${id}`).set('If-Match', etag), fields, files);

  it('gets 412, changes nothing and leaves no image behind if the product has changed since the ETag', async () => {
    const { id } = await createProduct(admin, createPictures(1));
    const etag = await etagOf(id);
    const updated = await updateIf(etag, id, { ...BREAD, price: '99000' }, createPictures(1)).expect(200);
    expect(updated.headers.etag).toBe(await etagOf(id));
    await admin.get(`/api/products/${id}`).set('If-None-Match', String(updated.headers.etag)).expect(304);

    const outdated = updateIf(etag, id, BREAD, createPictures(2));
    expectFailure(await sendRejectedUpdate(id, outdated), 412, MESSAGES.changedMeanwhile);
    await update(id, BREAD).expect(200);
  });

  it('accepts weak and strong ETags, lists and *, and rejects any other text', async () => {
    const { id } = await createProduct(admin);
    const toStrong = (etag: string) => etag.replace(/^W\//, '');
    for (const toHeader of [toStrong, (etag: string) => `"other" , ${etag}`, () => '*', () => '"a",*'])
      await updateIf(toHeader(await etagOf(id)), id).expect(200);
    const unquoted = toStrong(await etagOf(id)).replaceAll('"', '');
    for (const header of ['', 'W/', '""', ',', unquoted, `"${'x'.repeat(8000)}"`, '"'.repeat(8000)])
      expectFailure(await updateIf(header, id), 412, MESSAGES.changedMeanwhile);
  });

  it('reports invalid fields and an unknown product before it compares the ETag', async () => {
    const { id } = await createProduct(admin);
    expect((await updateIf('"other"', id, { ...BREAD, price: 'x' })).status).toBe(400);
    expect((await updateIf('*', UNKNOWN_ID)).status).toBe(404);
  });

  it.each([
    ['different', (index: number) => ({ ...BREAD, name: `Roti ${index}` })],
    ['the same', () => ({ ...BREAD, ...CAKE })],
  ])('succeeds for exactly one of 50 parallel requests with %s fields', async (_, toFields) => {
    const { id } = await createProduct(admin);
    const etag = await etagOf(id);
    const responses = await inParallel(50, (n) => updateIf(etag, id, toFields(n)));
    expect(sortedStatusesOf(responses)).toEqual([200, ...Array<number>(49).fill(412)]);
  });
});

it('a change of PUBLIC_URL changes the URLs of images, which can then be removed by their new URL', async () => {
  const { id, images } = await createProduct(admin, createPictures(3));
  const { database, dataDir } = service;
  const NEW_URL = 'https://shop.example';
  const moved = images.map((url) => url.replace('http://bakery.test', NEW_URL));
  const later = await useService({ database, settings: { PUBLIC_URL: NEW_URL, DATA_DIR: dataDir } });
  const client = await later.admin();
  expect((await readProduct(client, id)).images).toEqual(moved);
  expect((await listProducts(client, id - 1))[0]?.images).toEqual(moved);
  expect(await readImageStatus(client, moved[0])).toBe(200);
  const fields = { ...BREAD, [REMOVED]: moved.slice(0, 2) };
  const response = await sendForm(client.put(`/api/products/${id}`), fields).expect(200);
  expect(productOf(response).images).toEqual([moved[2]]);
  await until(
    'the image is gone from the host',
    async () => (await readImageStatus(client, moved[0])) === 404,
  );
});

describe('DELETE /api/products/{product_id}', () => {
  it('returns 204 without a body and removes the product (contract 4.8)', async () => {
    const other = await createProduct(admin, createPictures(3));
    const { id } = await createProduct(admin, createPictures(3));
    const response = await admin.delete(`/api/products/${id}`).expect(204);
    expect(response.text).toBe('');
    expect(response.headers['content-type']).toBeUndefined();
    await admin.get(`/api/products/${id}`).expect(404);
    expect(await listProducts(admin, other.id - 1)).toEqual([other]);
  });

  it('succeeds for exactly one of ten parallel requests', async () => {
    const { id } = await createProduct(admin, createPictures(3));
    const responses = await inParallel(10, () => admin.delete(`/api/products/${id}`));
    expect(sortedStatusesOf(responses)).toEqual([204, ...Array<number>(9).fill(404)]);
  });

  it.each(['2000000000', 'abc'])('returns the documented 404 for the unknown product %s', async (id) => {
    expectFailure(await admin.delete(`/api/products/${id}`), 404, MESSAGES.notFound);
  });
});
