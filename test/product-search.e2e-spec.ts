import { insertProducts } from './support/catalog.js';
import type { Client } from './support/client.js';
import { buildValidationFailure, NOT_FOUND } from './support/failure.js';
import { addProduct } from './support/orders.js';
import { BREAD, createProduct, type PageAnswer, sendForm } from './support/products.js';
import { useService } from './support/service.js';

const CREMES = ['Crème brûlée', 'CREME caramel', 'Cre\u0300me fraîche'];
const LAPIS = 'Kue lapis legit';
const QUOTES = `O'Hara "Q" \\o/`;
const NAMES = [...CREMES, LAPIS, '100% rye_bread', QUOTES, 'Торт Наполеон'];

// Without the cache, because the tests insert products by SQL.
const service = useService({ settings: { CATALOG_CACHE_MB: '0' } });
let customer: Client;

beforeAll(async () => {
  customer = await service.customer();
  for (const name of NAMES) await addProduct(service, 25_000, name);
});

async function search(query: Record<string, string | number>): Promise<PageAnswer['data']> {
  return ((await customer.get('/api/products').query(query).expect(200)).body as PageAnswer).data;
}

async function searchNames(q: string): Promise<string[]> {
  const answer = await customer.get('/api/products').query({ q });
  if (answer.status === 200) return (answer.body as PageAnswer).data.products.map(({ name }) => name);
  expect([answer.status, answer.body]).toEqual([404, NOT_FOUND]);
  return [];
}

describe('GET /api/products?q=', () => {
  it.each([
    ['  LAPIS  ', [LAPIS]],
    ['ue lapis l', [LAPIS]],
    ['creme', CREMES],
    ['CRÈME', CREMES],
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
    ['e '.repeat(50), [...CREMES, LAPIS, '100% rye_bread']],
    ['a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9', []],
    ['l%s', []],
    ['l_pis', []],
    ["' OR 1=1 --", []],
  ])(
    'finds products by all words of their name, in any order, ignoring case and accents: %s',
    async (q, names) => {
      expect(await searchNames(q)).toEqual(names);
    },
  );

  it('returns pages in the form of the list, with images and an ETag', async () => {
    const { id } = await createProduct(await service.admin(), [], {
      ...BREAD,
      name: 'Zwieback',
      price: '12.50',
    });
    expect(await search({ q: 'zwie' })).toEqual({
      meta: { lastProductId: id },
      products: [{ id, name: 'Zwieback', description: 'Soft', price: 12.5, images: null }],
    });
    const { headers } = await customer.get('/api/products?q=zwie').expect(200);
    expect(headers['cache-control']).toBe('private, no-cache');
    await customer.get('/api/products?q=zwie').set('If-None-Match', String(headers.etag)).expect(304);
  });

  it('finds a changed name at once', async () => {
    const admin = await service.admin();
    const { id } = await createProduct(admin, [], { ...BREAD, name: 'Before' });
    await sendForm(admin.put(`/api/products/${id}`), { ...BREAD, name: 'Äfter' }).expect(200);
    expect([await searchNames('before'), await searchNames('after')]).toEqual([[], ['Äfter']]);
  });

  it.each(['', '  '])('returns the whole list for the text %j', async (q) => {
    expect((await searchNames(q)).slice(0, NAMES.length)).toEqual(NAMES);
  });

  it.each([
    ['x'.repeat(101), 'q can have 100 characters at max'],
    ['bread\0', 'q contains a character that is not allowed'],
    [['a', 'b'], 'q should be a text'],
  ])('rejects %j with 400', async (q, message) => {
    const answer = await customer.get('/api/products').query({ q, last_id: 'x' }).expect(400);
    const details = { last_id: 'last_id should be a number', q: message };
    expect(answer.body).toEqual(buildValidationFailure(details));
  });

  it('returns 61 matches by id in pages of 50, up to the final 404', async () => {
    await insertProducts(service.database, 60);
    const first = await search({ q: 'bread' });
    const second = await search({ q: 'bread', last_id: first.meta.lastProductId });
    const ids = [first, second].flatMap(({ products }) => products.map(({ id }) => id));
    expect(first.products).toHaveLength(50);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids).toHaveLength(61);
    await customer.get(`/api/products?q=bread&last_id=${second.meta.lastProductId}`).expect(404);
  });
});
