import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { insertProduct, insertProducts, type PageBody } from './support/products.js';
import { useService } from './support/service.js';

const MAX_ID = 2_147_483_647;

const CREMES = ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche'];
const LAPIS = 'Kue lapis legit';
const QUOTES = `O'Hara "Q" \\o/`;
const NAMES = [...CREMES, LAPIS, '100% rye_bread', QUOTES, 'Торт Наполеон'];

// Without a cache of pages, because the tests insert products by SQL.
const service = await useService({ settings: { CATALOG_CACHE_MB: '0' } });
const customer = await service.customer();

beforeEach(() => service.database.query('TRUNCATE images, products RESTART IDENTITY CASCADE'));

describe('GET /api/products', () => {
  it('returns 120 products by id in pages of 50, up to the final 404 (contract 4.5)', async () => {
    await insertProducts(service.database, 120);
    const pages: number[][] = [];
    let lastId = 0;
    for (let page = 0; page < 3; page += 1) {
      const response = await customer.get(`/api/products?last_id=${lastId}`).expect(200);
      const { meta, products } = (response.body as PageBody).data;
      pages.push(products.map(({ id }) => id));
      lastId = meta.lastProductId;
      expect(lastId).toBe(products.at(-1)?.id);
    }
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(pages.flat()).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    expectFailure(await customer.get(`/api/products?last_id=${lastId}`), 404, MESSAGES.notFound);
  });

  it.each([
    [`last_id=${MAX_ID + 1}`, 404, 'a number beyond the largest id'],
    ['last_id=1e400', 404, 'a number beyond the largest id'],
    ['last_id=abc', 400, 'not a number'],
    ['last_id=', 400, 'not a number'],
    ['last_id=1&last_id=2', 400, 'not a number'],
  ])('responds to %s with %d, because last_id is %s', async (query, status) => {
    await insertProducts(service.database, 3);
    const response = await customer.get(`/api/products?${query}`);
    if (status === 404) expectFailure(response, 404, MESSAGES.notFound);
    else expectInvalid(response, { last_id: 'last_id should be a number' });
  });

  it('returns exactly the documented fields of a product (contract 2.2)', async () => {
    await insertProducts(service.database, 1);
    const products = [{ id: 1, name: 'Bread 1', description: 'Loaf', price: 1, images: null }];
    const response = await customer.get('/api/products').expect(200);
    expect(response.body).toEqual({ status: 'success', data: { meta: { lastProductId: 1 }, products } });
  });

  it('no longer returns a product after its deletion by SQL if CATALOG_CACHE_MB is 0', async () => {
    await insertProducts(service.database, 1);
    await customer.get('/api/products').expect(200);
    await service.database.query('DELETE FROM products');
    await customer.get('/api/products').expect(404);
  });
});

async function searchNames(q: string): Promise<string[]> {
  const response = await customer.get('/api/products').query({ q });
  if (response.status === 200) return (response.body as PageBody).data.products.map(({ name }) => name);
  expectFailure(response, 404, MESSAGES.notFound);
  return [];
}

describe('GET /api/products?q=', () => {
  beforeEach(async () => {
    for (const name of NAMES) await insertProduct(service, 25_000, name);
  });

  it.each([
    ['', NAMES],
    ['  ', NAMES],
    ['  LAPIS  ', [LAPIS]],
    ['ue lapis l', [LAPIS]],
    ['creme', CREMES],
    // The decomposed form of the same letters: e and a combining accent.
    ['cre\u0300me', CREMES],
    ['ТОРТ', ['Торт Наполеон']],
    ['%', ['100% rye_bread']],
    ['_', ['100% rye_bread']],
    ['\\', [QUOTES]],
    ["o'h", [QUOTES]],
    ['"', [QUOTES]],
    ['LEGIT\u2003lapis\tKUE', [LAPIS]],
    ['caramel crème', ['CREME caramel']],
    ['lapis caramel', []],
    // Two extreme searches: the same word 50 times, and 36 different words.
    ['e '.repeat(50), [...CREMES, LAPIS, '100% rye_bread']],
    ['a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9', []],
    ['l%s', []],
    ["' OR 1=1 --", []],
  ])(
    'finds products whose name contains all words of q, in any order, ignoring case and accents: %s',
    async (q, names) => {
      expect(await searchNames(q)).toEqual(names);
    },
  );

  it('returns pages in the form of the list, with an ETag, and starts each page after last_id', async () => {
    const id = await insertProduct(service, '12.50', 'Zwieback');
    const response = await customer.get('/api/products?q=zwie').expect(200);
    const products = [{ id, name: 'Zwieback', description: 'From today', price: 12.5, images: null }];
    expect(response.body).toEqual({ status: 'success', data: { meta: { lastProductId: id }, products } });
    const { etag, 'cache-control': cacheControl } = response.headers;
    expect(cacheControl).toBe('private, no-cache');
    await customer.get('/api/products?q=zwie').set('If-None-Match', String(etag)).expect(304);
    await customer.get(`/api/products?q=zwie&last_id=${id}`).expect(404);
  });

  it.each([
    ['coklat', ['Cokelat lumer', 'Roti sobek cokelat']],
    ['kroisan', ['Croissant mentega']],
    ['"kroisan"/menteega!', ['Croissant mentega']],
    ['kr_isan', []],
    ['lapislegit', [LAPIS]],
    ['donat', ['Donut gula']],
    ['kue suus', ['Kue sus']],
    ['laptop', []],
    ['coklat legit', []],
  ])(
    'finds available products with names similar to %j, on one page only, if no name contains all words',
    async (q, names) => {
      const breads = ['Roti sobek cokelat', 'Croissant mentega', 'Brownies panggang', 'Donut gula'];
      for (const name of [...breads, 'Kue sus', 'Cokelat lumer']) await insertProduct(service, 25_000, name);
      const hidden = await insertProduct(service, 25_000, 'Coklaat');
      await service.database.query('UPDATE products SET available = false WHERE id = $1', [hidden]);
      expect((await searchNames(q)).toSorted()).toEqual(names);
      await customer.get('/api/products').query({ q, last_id: 1 }).expect(404);
    },
  );

  it('orders similar names by their similarity', async () => {
    const last = await insertProduct(service, 25_000, 'Brownies kukus');
    await insertProduct(service, 25_000, 'Brownis');
    const response = await customer.get('/api/products?q=brownniss').expect(200);
    const { products, meta } = (response.body as PageBody).data;
    expect(products.map(({ name }) => name)).toEqual(['Brownis', 'Brownies kukus']);
    expect(meta.lastProductId).toBe(last);
  });

  it('finds only names that contain all words if the database has no extension pg_trgm', async () => {
    const other = await useService({ settings: { CATALOG_ACCESS: 'public' } });
    await other.database.query('DROP EXTENSION pg_trgm CASCADE');
    await insertProduct(other, 25_000, 'Cokelat lumer');
    await other.client().get('/api/products?q=lumer').expect(200);
    await other.client().get('/api/products?q=coklat').expect(404);
  });

  it('ignores words after the eighth', async () => {
    const id = await insertProduct(service, 25_000, 'a b c d e f g h');
    for (const q of ['a b c d e f g h zzz', 'a a b c d e f g zzz']) {
      const response = await customer.get('/api/products').query({ q }).expect(200);
      expect((response.body as PageBody).data.meta.lastProductId).toBe(id);
    }
  });

  it.each([
    ['x'.repeat(101), 'q can have 100 characters at max'],
    ['🍞'.repeat(100) + '\ufe0f', 'q can have 100 characters at max'],
    ['bread\0', 'q contains a character that is not allowed'],
    ['bread\ufffd', 'q contains a character that is not allowed'],
    [['a', 'b'], 'q should be a text'],
  ])(
    'rejects %j with the message "%s", and reports an invalid last_id in the same response',
    async (q, message) => {
      const response = await customer.get('/api/products').query({ q, last_id: 'x' });
      const details = { last_id: 'last_id should be a number', q: message };
      expectInvalid(response, details);
    },
  );
});

it.each(['2', '0', '-1', '01', 'abc', `${MAX_ID + 1}`, '9'.repeat(400), '1%00'])(
  'GET /api/products/{product_id} returns the documented 404 for the unknown id %s',
  async (id) => {
    await insertProducts(service.database, 1);
    expectFailure(await customer.get(`/api/products/${id}`), 404, MESSAGES.notFound);
  },
);
