import type { Client } from './support/client.js';
import { jpeg, padded, png, svgNamedPng } from './support/pictures.js';
import {
  CAKE,
  createProduct,
  fail,
  form,
  type FormFields,
  type FormFile,
  ledger,
  type LedgerRow,
  NOT_FOUND,
  type ProductAnswer,
  productOf,
} from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const REMOVED = 'images.removed[]';
const BREAD = { name: 'Roti', description: 'Soft', price: '12500', [REMOVED]: '' } as const;
const UNSUPPORTED = 'invalid file format, only .png or .jpg files are accepted';
const TOO_MANY = fail(400, 'each product can only have 5 images at max');

function invalid(details: Readonly<Record<string, string>>): object {
  return fail(400, 'validation errors', details);
}

function pictures(count: number, seed = 'old'): FormFile[] {
  return Array.from({ length: count }, (_, index) => ({
    bytes: png(`${seed} ${index}`),
    name: `${index}.png`,
  }));
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

  /** Sends an update that must fail and change nothing. */
  async function refused(
    product: ProductAnswer,
    fields: FormFields,
    files: readonly FormFile[],
    status: number,
  ): Promise<unknown> {
    const before = await ledger(service.database);
    const answer = await update(product.id, fields, files).expect(status);
    expect(await shown(product.id)).toEqual({
      ...product,
      images: product.images?.length === 0 ? null : product.images,
    });
    // Images of earlier tests may be removed at the same time.
    const after = await ledger(service.database);
    expect(after.filter(isAttached)).toEqual(before.filter(isAttached));
    expect(before).toEqual(expect.arrayContaining(after));
    return answer.body;
  }

  function isServed(url: string): Promise<boolean> {
    return service
      .client()
      .get(new URL(url).pathname)
      .then(({ status }) => status === 200);
  }

  describe('what is updated', () => {
    it('interface 4.7: answers 200 with the new fields, and the remaining images before the new ones', async () => {
      const { id, images } = await createProduct(admin, pictures(3));
      const [first = '', second = '', third = ''] = images;
      const answer = await update(id, { ...BREAD, [REMOVED]: second }, [
        { bytes: jpeg('new'), name: 'new.jpg' },
        { bytes: png('newer'), name: 'newer.png' },
      ]).expect(200);
      expect(answer.body).toEqual({
        status: 'success',
        data: {
          products: {
            id,
            name: 'Roti',
            description: 'Soft',
            price: 12500,
            images: [
              first,
              third,
              expect.stringMatching(/\.jpg$/),
              expect.stringMatching(/\.png$/),
            ] as string[],
          },
        },
      });
      expect(await shown(id)).toEqual(productOf(answer));
    });

    it('interface 4.7 rule 5: removed images go from the image host, the others stay', async () => {
      const { id, images } = await createProduct(admin, pictures(2));
      const [kept = '', removed = ''] = images;
      await update(id, { ...BREAD, [REMOVED]: removed }).expect(200);
      await until('the removed image is gone', async () => !(await isServed(removed)));
      await until('its line in the ledger is gone', async () => {
        const lines = await ledger(service.database);
        return lines.filter(({ state }) => state !== 'attached').length === 0;
      });
      expect(await isServed(kept)).toBe(true);
    });

    it('interface 4.7: without images the answer holds an empty list and the list null', async () => {
      const { id, images } = await createProduct(admin, pictures(1));
      const answer = await update(id, { ...BREAD, [REMOVED]: images }).expect(200);
      expect(productOf(answer).images).toEqual([]);
      expect((await shown(id)).images).toBeNull();
    });

    it('decisions, Products: new images follow the remaining ones through several updates', async () => {
      const { id, images } = await createProduct(admin, pictures(2));
      const added = productOf(await update(id, BREAD, pictures(1, 'second')).expect(200)).images ?? [];
      expect(added.slice(0, 2)).toEqual(images);
      const last = productOf(
        await update(id, { ...BREAD, [REMOVED]: images[0] ?? '' }, pictures(2, 'third')).expect(200),
      ).images;
      expect(last?.slice(0, 2)).toEqual(added.slice(1));
      expect(last).toHaveLength(4);
      expect((await shown(id)).images).toEqual(last);
    });

    it('changes no other product', async () => {
      const other = await createProduct(admin, pictures(1));
      const { id } = await createProduct(admin, pictures(1));
      await update(id, { ...BREAD, [REMOVED]: other.images }).expect(200);
      expect(await shown(other.id)).toEqual(other);
    });

    it('unknown fields are dropped, and text is trimmed', async () => {
      const { id } = await createProduct(admin);
      const answer = await update(id, {
        ...BREAD,
        name: ' Roti\n',
        id: '1',
        role: 'ADMIN',
        '__proto__[name]': 'x',
        'constructor[name]': 'x',
      }).expect(200);
      expect(productOf(answer)).toEqual({ id, name: 'Roti', description: 'Soft', price: 12500, images: [] });
    });
  });

  describe('decisions, Products: images.removed', () => {
    it('an identifier that the product does not have is taken as already removed', async () => {
      const product = await createProduct(admin, pictures(2));
      const answer = await update(product.id, {
        ...BREAD,
        [REMOVED]: [
          'http://bakery.test/api/images/nothing.png',
          'nonsense',
          ' ',
          '\0',
          product.images[0] ?? '',
        ],
      }).expect(200);
      expect(productOf(answer).images).toEqual(product.images.slice(1));
    });

    it('sending the same update twice gives the same answer twice', async () => {
      const product = await createProduct(admin, pictures(2));
      const fields = { ...BREAD, [REMOVED]: product.images[0] ?? '' };
      const first = await update(product.id, fields).expect(200);
      const second = await update(product.id, fields).expect(200);
      expect(second.body).toEqual(first.body);
    });

    it('an identifier sent twice removes one image', async () => {
      const { id, images } = await createProduct(admin, pictures(5));
      const url = images[4] ?? '';
      const tooMany = await update(id, { ...BREAD, [REMOVED]: [url, url] }, pictures(2, 'new')).expect(400);
      expect(tooMany.body).toEqual(TOO_MANY);
      const answer = await update(id, { ...BREAD, [REMOVED]: [url, url] }).expect(200);
      expect(productOf(answer).images).toEqual(images.slice(0, 4));
    });

    it('an empty value beside others is no identifier', async () => {
      const { id, images } = await createProduct(admin, pictures(2));
      const answer = await update(id, { ...BREAD, [REMOVED]: ['', images[0] ?? '', ''] }).expect(200);
      expect(productOf(answer).images).toEqual(images.slice(1));
    });

    it.each(['images.removed', 'images.removed[]', 'images.removed[0]'])(
      'may be sent as %s',
      async (field) => {
        const { id, images } = await createProduct(admin, pictures(2));
        const { name, description, price } = BREAD;
        const answer = await update(id, { name, description, price, [field]: images[0] ?? '' }).expect(200);
        expect(productOf(answer).images).toEqual(images.slice(1));
      },
    );

    it.each(['images.removed[x]', 'images.removed[constructor]', 'images[removed]', 'images.removed[][x]'])(
      'sent as %s it is missing',
      async (field) => {
        const product = await createProduct(admin, pictures(1));
        const { name, description, price } = BREAD;
        const body = await refused(product, { name, description, price, [field]: '' }, [], 400);
        expect(body).toEqual(invalid({ 'images.removed': 'images.removed is required' }));
      },
    );
  });

  describe('interface 4.7 rules 1 and 4: fields that fail', () => {
    it('decisions, Answers: all failing fields are reported together, images included', async () => {
      const product = await createProduct(admin, pictures(1));
      const body = await refused(product, {}, [{ bytes: svgNamedPng(), name: 'a.png' }], 400);
      expect(body).toEqual(
        invalid({
          name: 'name is required',
          description: 'description is required',
          price: 'price is required',
          'images.removed': 'images.removed is required',
          images: 'a.png is not a png or jpg file',
        }),
      );
    });

    it.each([
      ['name', 'name is required'],
      ['description', 'description is required'],
      ['price', 'price is required'],
    ])('interface 4.7 rule 1: %s must be sent even when only the others change', async (field, message) => {
      const product = await createProduct(admin, pictures(1));
      const fields: FormFields = Object.fromEntries(Object.entries(BREAD).filter(([name]) => name !== field));
      expect(await refused(product, fields, [], 400)).toEqual(invalid({ [field]: message }));
    });

    it.each([
      ['name', ' ', 'name is required'],
      ['name', 'a\0', 'name contains a character that is not allowed'],
      ['name', 'x'.repeat(256), 'name can have 255 characters at max'],
      ['description', '', 'description is required'],
      ['description', '\0', 'description contains a character that is not allowed'],
      ['description', 'x'.repeat(10_001), 'description can have 10000 characters at max'],
      ['price', ' ', 'price is required'],
      ['price', 'cheap', 'price should be a number'],
      ['price', '-0.01', 'price should be from 0 to 999999999999.99'],
      ['price', '0.001', 'price should be a number'],
      ['price', '1000000000000', 'price should be from 0 to 999999999999.99'],
    ])('%s %j: %s', async (field, value, message) => {
      const product = await createProduct(admin);
      const body = await refused(product, { ...BREAD, [field]: value }, [], 400);
      expect(body).toEqual(invalid({ [field]: message }));
    });
  });

  describe('files that fail', () => {
    it.each<[string, FormFile]>([
      ['a PNG named .gif', { bytes: png(), name: 'a.gif' }],
      ['a PNG named .webp', { bytes: png(), name: 'a.webp' }],
    ])('interface 4.7 rule 3: %s: 400, details.images', async (_, file) => {
      const product = await createProduct(admin, pictures(1));
      const body = await refused(product, BREAD, [...pictures(1, 'good'), file], 400);
      expect(body).toEqual(invalid({ images: UNSUPPORTED }));
    });

    it.each([
      [5, 0, 1],
      [5, 1, 2],
      [3, 0, 3],
      [1, 0, 5],
      [0, 0, 6],
      [5, 5, 6],
      [0, 0, 20],
    ])(
      'interface 4.7 rule 2: %d images - %d removed + %d new are more than 5: 400',
      async (has, goes, comes) => {
        const product = await createProduct(admin, pictures(has));
        const fields = { ...BREAD, [REMOVED]: goes === 0 ? '' : product.images.slice(0, goes) };
        expect(await refused(product, fields, pictures(comes, 'new'), 400)).toEqual(TOO_MANY);
      },
    );

    it.each([
      [5, 0, 0],
      [5, 1, 1],
      [5, 5, 5],
      [4, 0, 1],
      [0, 0, 5],
    ])('interface 4.7 rule 2: %d images - %d removed + %d new are taken', async (has, goes, comes) => {
      const { id, images } = await createProduct(admin, pictures(has));
      const fields = { ...BREAD, [REMOVED]: goes === 0 ? '' : images.slice(0, goes) };
      const answer = await update(id, fields, pictures(comes, 'new')).expect(200);
      expect(productOf(answer).images).toHaveLength(has - goes + comes);
    });

    it('decisions, Answers: a file of one byte more than 5 MiB: 413', async () => {
      const product = await createProduct(admin, pictures(1));
      const body = await refused(product, BREAD, [{ bytes: padded(png(), 5 * MIB + 1), name: 'a.png' }], 413);
      expect(body).toEqual(fail(413, 'an image can have 5 MiB at max'));
    });

    it('takes a file of exactly 5 MiB', async () => {
      const { id } = await createProduct(admin);
      await update(id, BREAD, [{ bytes: padded(png(), 5 * MIB), name: 'a.png' }]).expect(200);
    });
  });

  describe('decisions, Answers: bodies that are no whole form', () => {
    it.each([
      ['application/json', JSON.stringify({ ...BREAD, 'images.removed': [] })],
      ['application/x-www-form-urlencoded', 'name=a&description=b&price=1&images.removed='],
    ])('%s counts as an empty form', async (type, text) => {
      const { id } = await createProduct(admin);
      const answer = await admin.put(`/api/products/${id}`).set('Content-Type', type).send(text).expect(400);
      expect(answer.body).toEqual(
        invalid({
          name: 'name is required',
          description: 'description is required',
          price: 'price is required',
          'images.removed': 'images.removed is required',
        }),
      );
    });

    it('a form without a boundary or cut short: 400', async () => {
      const { id } = await createProduct(admin);
      for (const type of ['multipart/form-data', 'multipart/form-data; boundary=b']) {
        const answer = await admin
          .put(`/api/products/${id}`)
          .set('Content-Type', type)
          .send('--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nRoti\r\n')
          .expect(400);
        expect(answer.body).toEqual(fail(400, 'malformed request'));
      }
    });
  });

  describe('decisions, Accounts: cookie, then role, then fields, then the product', () => {
    const UNKNOWN = 2_000_000_000;

    it('no cookie: 401, a bad one: 400', async () => {
      const missing = await form(service.client().put(`/api/products/${UNKNOWN}`), {}).expect(401);
      expect(missing.body).toEqual(fail(401, 'access token missing or expired'));
      const bad = service.client().setCookie('accessToken', 'a.b.c');
      const answer = await form(bad.put(`/api/products/${UNKNOWN}`), {}).expect(400);
      expect(answer.body).toEqual(fail(400, 'invalid or malformed access token'));
    });

    it('interface 4.7 rule 6: a customer gets 403, whatever the form and the id', async () => {
      const customer = await service.customer();
      const { id } = await createProduct(admin);
      for (const path of [`/api/products/${UNKNOWN}`, '/api/products/x', `/api/products/${id}`]) {
        for (const fields of [{}, BREAD]) {
          const answer = await form(customer.put(path), fields).expect(403);
          expect(answer.body).toEqual(fail(403, 'this action is only for user with admin access'));
        }
      }
      expect((await shown(id)).name).toBe(CAKE.name);
    });

    it('bad fields of an unknown product: 400', async () => {
      for (const id of [UNKNOWN, 'x']) {
        const answer = await update(id, { ...BREAD, price: 'x' }).expect(400);
        expect(answer.body).toEqual(invalid({ price: 'price should be a number' }));
      }
    });

    it.each([`${UNKNOWN}`, '2147483648', '99999999999999999999', '0', '-1', '1.5', 'abc', '01', '1%00'])(
      'interface 4.7 rule 6: good fields of an unknown product %s: 404, and nothing is uploaded',
      async (id) => {
        const before = await ledger(service.database);
        const answer = await update(id, BREAD, pictures(1, 'lost')).expect(404);
        expect(answer.body).toEqual(NOT_FOUND);
        expect(before).toEqual(expect.arrayContaining(await ledger(service.database)));
      },
    );
  });
});
