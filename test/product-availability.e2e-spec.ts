import type { components } from '../client/schema.js';
import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { requestOrder } from './support/orders.js';
import { insertProduct, listProducts, type PageBody } from './support/products.js';
import { setUpShop } from './support/shop-settings.js';
import { useShop } from './support/shop.js';
import { inParallel, until } from './support/wait.js';

type AdminProduct = components['schemas']['AdminProductView'];

const NOT_A_BOOLEAN = 'available should be true or false';
const UNTIL_NOT_ALLOWED = 'until needs available to be false';
const NOT_A_LATER_DATE = 'until should be a date after today, such as 2026-11-24';

const shop = await useShop();
let productId: number;

await setUpShop(shop.admin, { time_zone: 'Pacific/Kiritimati' });

beforeEach(async () => {
  productId = await insertProduct(shop.service, 25_000, 'Kue lapis legit');
});

const setAvailability = (body: unknown, id = productId) =>
  shop.admin.put(`/api/admin/products/${id}/availability`).send(body as object);

function adminProductOf({ body }: { readonly body: unknown }): AdminProduct {
  return (body as { data: { product: AdminProduct } }).data.product;
}

function pageOf({ body }: { readonly body: unknown }): PageBody['data'] {
  return (body as PageBody).data;
}

async function isListed(): Promise<boolean> {
  return (await listProducts(shop.customer, productId - 1)).some(({ id }) => id === productId);
}

const orderProduct = () => requestOrder(shop.customer, [{ product_id: productId, quantity: 1 }]);

/** Returns the date that is this many days from today in the time zone of the shop, 14 hours ahead of UTC. */
const dateIn = (days: number): string =>
  new Date(Date.now() + (14 + 24 * days) * 3_600_000).toISOString().slice(0, 10);

describe('a product that is not available', () => {
  it('cannot be listed, found, read or ordered until it is available again', async () => {
    expect(adminProductOf(await setAvailability({ available: false }).expect(200))).toEqual({
      id: productId,
      name: 'Kue lapis legit',
      description: 'From today',
      price: 25_000,
      images: null,
      available: false,
      unavailable_until: null,
    });
    expect(await isListed()).toBe(false);
    await shop.customer.get(`/api/products?q=legit&last_id=${productId - 1}`).expect(404);
    expectFailure(await shop.customer.get(`/api/products/${productId}`), 404, MESSAGES.notFound);
    const details = { 'items.0.product_id': 'product is no longer available' };
    expectInvalid(await orderProduct(), details);

    expect(adminProductOf(await setAvailability({ available: true }).expect(200)).available).toBe(true);
    expect(await isListed()).toBe(true);
    await shop.customer.get(`/api/products/${productId}`).expect(200);
    await orderProduct().expect(201);
  });

  it('becomes available at the start of its `until` date in the time zone of the shop', async () => {
    const date = dateIn(2); // Not dateIn(1), which becomes today if the test runs at midnight.
    const hidden = adminProductOf(await setAvailability({ available: false, until: date }).expect(200));
    expect(hidden).toMatchObject({ available: false, unavailable_until: date });
    const rows = await shop.query('SELECT available_again_at FROM products WHERE id = $1', [productId]);
    expect(rows).toEqual([{ available_again_at: new Date(`${date}T00:00:00+14:00`) }]);

    await shop.query('UPDATE products SET available_again_at = now() WHERE id = $1', [productId]);
    await until('it is listed again', isListed);
    await shop.customer.get(`/api/products/${productId}`).expect(200);
    await orderProduct().expect(201);
    const response = await shop.admin.get(`/api/admin/products?last_id=${productId - 1}`).expect(200);
    expect(pageOf(response).products).toMatchObject([
      { id: productId, available: true, unavailable_until: null },
    ]);
  });
});

describe('PUT /api/admin/products/{product_id}/availability', () => {
  it.each<[string, unknown, Record<string, string>]>([
    ['an empty body', {}, { available: NOT_A_BOOLEAN }],
    ['a text instead of a boolean', { available: 'false' }, { available: NOT_A_BOOLEAN }],
    ['a date for an available product', { available: true, until: dateIn(2) }, { until: UNTIL_NOT_ALLOWED }],
    ['today as the date', { available: false, until: dateIn(0) }, { until: NOT_A_LATER_DATE }],
    ['a date that does not exist', { available: false, until: '2027-02-30' }, { until: NOT_A_LATER_DATE }],
  ])('rejects %s and changes nothing', async (_what, body, details) => {
    expectInvalid(await setAvailability(body), details);
    expect(await isListed()).toBe(true);
  });

  it('returns 404 for an unknown product', async () => {
    for (const id of [0, 2 ** 31 - 1])
      expectFailure(await setAvailability({ available: true }, id), 404, MESSAGES.notFound);
  });
});

describe('GET /api/admin/products', () => {
  const list = (query: string) => shop.admin.get(`/api/admin/products?${query}`);
  const listNames = async (query: string) =>
    pageOf(await list(query).expect(200)).products.map(({ name }) => name);

  it('lists all products by id, filtered by availability and words, up to the final 404', async () => {
    const hidden = await insertProduct(shop.service, 1, 'Crème brûlée');
    const shown = await insertProduct(shop.service, 1, 'Brûlée tart');
    await setAvailability({ available: false }, hidden).expect(200);
    const after = `last_id=${hidden - 1}`;
    expect(await listNames(after)).toEqual(['Crème brûlée', 'Brûlée tart']);
    expect(await listNames(`${after}&available=false`)).toEqual(['Crème brûlée']);
    expect(await listNames(`${after}&available=true`)).toEqual(['Brûlée tart']);
    expect(await listNames(`${after}&q=BRULEE creme`)).toEqual(['Crème brûlée']);
    expectFailure(await list(`last_id=${shown}`), 404, MESSAGES.notFound);
  });

  it('returns pages of 50 products, each with its images sorted by position', async () => {
    await inParallel(60, () => insertProduct(shop.service, 1, 'Roti'));
    await shop.query(
      `INSERT INTO images (id, host, state, product_id, position, url)
       SELECT gen_random_uuid(), 'local', 'attached', $1, 3 - n, n || '.png' FROM generate_series(1, 3) AS n`,
      [productId],
    );
    const { meta, products } = pageOf(await list(`last_id=${productId - 1}`).expect(200));
    expect(products).toHaveLength(50);
    expect(products[0]?.images?.map((url) => url.split('/').at(-1))).toEqual(['3.png', '2.png', '1.png']);
    expect(meta.lastProductId).toBe(products.at(-1)?.id);
    expect(await listNames(`last_id=${meta.lastProductId}`)).toHaveLength(11);
  });

  it('reports all invalid parameters together', async () => {
    const details = { available: NOT_A_BOOLEAN, last_id: 'last_id should be a number' };
    expectInvalid(await list('available=maybe&last_id=x'), details);
  });
});
