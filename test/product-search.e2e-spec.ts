import type { Client } from './support/client.js';
import { addProduct } from './support/orders.js';
import { createProduct, fail, form, NOT_FOUND, type PageAnswer, BREAD } from './support/products.js';
import { startService, type TestService } from './support/service.js';

const NAMES = [
  'Crème brûlée',
  'CREME caramel',
  // The decomposed form of the same letters: e and a combining accent.
  'Cre\u0300me fraîche',
  'Kue lapis legit',
  '100% rye_bread',
  `O'Hara "Q" \\o/`,
  'Торт Наполеон',
];

let service: TestService;
let customer: Client;

beforeAll(async () => {
  // Without the cache, because the tests insert products by SQL.
  service = await startService({ settings: { CATALOG_CACHE_MB: '0' } });
  customer = await service.customer();
});

afterAll(() => service.stop());

async function page(query: Record<string, string | number>): Promise<PageAnswer['data']> {
  const answer = await customer.get('/api/products').query(query).expect(200);
  return (answer.body as PageAnswer).data;
}

async function searchProducts(q: string): Promise<string[]> {
  const answer = await customer.get('/api/products').query({ q });
  if (answer.status === 200) return (answer.body as PageAnswer).data.products.map(({ name }) => name);
  expect([answer.status, answer.body]).toEqual([404, NOT_FOUND]);
  return [];
}

describe('GET /api/products?q=', () => {
  beforeAll(async () => {
    for (const name of NAMES) await addProduct(service, 25_000, name);
  });

  it.each([
    ['lapis', ['Kue lapis legit']],
    ['  LAPIS  ', ['Kue lapis legit']],
    ['ue lapis l', ['Kue lapis legit']],
    ['creme', ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche']],
    ['CRÈME', ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche']],
    ['cre\u0300me', ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche']],
    ['brulee', ['Crème brûlée']],
    ['ТОРТ', ['Торт Наполеон']],
    ['%', ['100% rye_bread']],
    ['_', ['100% rye_bread']],
    ['\\', [`O'Hara "Q" \\o/`]],
    ["o'h", [`O'Hara "Q" \\o/`]],
    ['"', [`O'Hara "Q" \\o/`]],
    ['legit kue', ['Kue lapis legit']],
    ['LEGIT\u2003lapis\tKUE', ['Kue lapis legit']],
    ['caramel crème', ['CREME caramel']],
    ['lapis caramel', []],
    [
      Array.from({ length: 50 }, () => 'e').join(' '),
      ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche', 'Kue lapis legit', '100% rye_bread'],
    ],
    ['a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9', []],
    ['l%s', []],
    ['l_pis', []],
    ["' OR 1=1 --", []],
  ])(
    'finds products by all words of their name, in any order, ignoring case and accents: %s',
    async (q, names) => {
      expect(await searchProducts(q)).toEqual(names);
    },
  );

  it('returns pages in the form of the list, with images and an ETag', async () => {
    const made = await createProduct(await service.admin(), [], {
      ...BREAD,
      name: 'Zwieback',
      price: '12500.50',
    });
    expect(await page({ q: 'zwie' })).toEqual({
      meta: { lastProductId: made.id },
      products: [{ id: made.id, name: 'Zwieback', description: 'Soft', price: 12500.5, images: null }],
    });
    const { headers } = await customer.get('/api/products?q=zwie').expect(200);
    expect(headers['cache-control']).toBe('private, no-cache');
    await customer.get('/api/products?q=zwie').set('If-None-Match', String(headers.etag)).expect(304);
  });

  it('finds a changed name at once', async () => {
    const admin = await service.admin();
    const { id } = await createProduct(admin, [], { ...BREAD, name: 'Before' });
    await form(admin.put(`/api/products/${id}`), { ...BREAD, name: 'Äfter' }).expect(200);
    expect([await searchProducts('before'), await searchProducts('after')]).toEqual([[], ['Äfter']]);
  });

  it('ignores an empty text and only spaces, and returns the list', async () => {
    for (const q of ['', '  ']) expect((await searchProducts(q)).slice(0, NAMES.length)).toEqual(NAMES);
  });

  it.each([
    ['x'.repeat(101), 'q can have 100 characters at max'],
    ['bread\0', 'q contains a character that is not allowed'],
  ])('rejects %j with 400', async (q, message) => {
    const answer = await customer.get('/api/products').query({ q, last_id: 'x' }).expect(400);
    expect(answer.body).toEqual(
      fail(400, 'validation error', { last_id: 'last_id should be a number', q: message }),
    );
  });

  it('rejects two texts, and callers without a session', async () => {
    const answer = await customer.get('/api/products?q=a&q=b').expect(400);
    expect(answer.body).toEqual(fail(400, 'validation error', { q: 'q should be a text' }));
    await service.client().get('/api/products?q=a').expect(401);
  });
});

it('a search among 10,000 products returns the matches by id in pages of 50, up to the final 404', async () => {
  await service.database.pool.query(
    `INSERT INTO products (name, description, price)
     SELECT CASE WHEN n % 100 = 0 THEN 'Kue Pandan' ELSE 'Kue Keju' END, 'Baked this morning.', n
     FROM generate_series(1, 10000) AS n`,
  );
  const ids: number[] = [];
  let last = 0;
  for (let pages = 0; pages < 2; pages += 1) {
    const { meta, products } = await page({ q: 'pandan', last_id: last });
    expect(products).toHaveLength(50);
    ids.push(...products.map(({ id }) => id));
    last = meta.lastProductId;
  }
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  await customer.get(`/api/products?q=pandan&last_id=${last}`).expect(404);
});
