import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Client } from './support/client.js';
import { htmlNamedPng, jpeg, padded, png, svgNamedPng } from './support/pictures.js';
import {
  CAKE,
  createProduct,
  fail,
  form,
  type FormFile,
  ledger,
  NOT_FOUND,
  productCount,
  productOf,
} from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const UNSUPPORTED = 'image extension is not supported';
const FIVE_AT_MAX = 'each product can only have 5 images at max';

function invalid(details: Readonly<Record<string, string>>): object {
  return fail(400, 'validation error', details);
}

function pictures(count: number): FormFile[] {
  return Array.from({ length: count }, (_, index) => ({ bytes: png(index), name: `${index}.png` }));
}

describe('creating a product', () => {
  let service: TestService;
  let admin: Client;

  beforeAll(async () => {
    service = await startService();
    admin = await service.admin();
  });

  afterAll(() => service.stop());

  beforeEach(async () => {
    await service.database.pool.query('DELETE FROM images');
    await service.database.pool.query('DELETE FROM products');
  });

  async function expectNothingStored(): Promise<void> {
    expect(await productCount(service.database)).toBe(0);
    expect(await ledger(service.database)).toEqual([]);
  }

  /** Bytes of an image as the service gives them out; its URL names the public address of the tests. */
  async function imageAt(url: string): Promise<{ type: string; bytes: Buffer }> {
    expect(url).toMatch(/^http:\/\/bakery\.test\/api\/images\//);
    const answer = await service.client().get(new URL(url).pathname).expect(200);
    return { type: String(answer.headers['content-type']), bytes: answer.body as Buffer };
  }

  describe('what is created', () => {
    it('interface 4.6: answers 201 with the product and the URLs of its images, and stores just that', async () => {
      const answer = await form(admin.post('/api/products'), CAKE, [
        { bytes: png('a'), name: 'a.png' },
        { bytes: jpeg('b'), name: 'b.jpg' },
      ]).expect(201);
      const product = productOf(answer);
      expect(answer.body).toEqual({
        status: 'success',
        data: {
          products: {
            id: expect.any(Number) as number,
            name: 'Kue lapis',
            description: 'Eighteen layers',
            price: 185000,
            images: [expect.any(String), expect.any(String)] as string[],
          },
        },
      });
      const { rows } = await service.database.pool.query('SELECT id, name, description, price FROM products');
      expect(rows).toEqual([{ ...CAKE, id: product.id, price: '185000.00' }]);
      const [first = '', second = ''] = product.images ?? [];
      expect(await imageAt(first)).toEqual({ type: 'image/png', bytes: png('a') });
      expect(await imageAt(second)).toEqual({ type: 'image/jpeg', bytes: jpeg('b') });
      const shown = await admin.get(`/api/products/${product.id}`).expect(200);
      expect(shown.body).toEqual(answer.body);
    });

    it('interface 4.6: images are not required; the answer then holds an empty list', async () => {
      expect((await createProduct(admin)).images).toEqual([]);
    });

    it('interface section 8: takes 5 images and keeps them in the order sent, whatever their sizes', async () => {
      const files = [700_000, 200, 300_000, 100, 50_000].map((size, index) => ({
        bytes: padded(png(index), size),
        name: `${index}.png`,
      }));
      const { images } = await createProduct(admin, files);
      const stored = await Promise.all(images.map(async (url) => (await imageAt(url)).bytes));
      expect(stored.map(({ length }) => length)).toEqual(files.map(({ bytes }) => bytes.length));
      expect(stored.every((bytes, index) => files[index]?.bytes.equals(bytes) === true)).toBe(true);
    });

    it('decisions, Answers: text is trimmed, and everything else in it is kept', async () => {
      const { id } = await createProduct(admin, [], {
        name: '  Kue "lapis" <legit> 🍰 \t',
        description: "\n Line one\n\nLine two: 100 %; '); DROP TABLE products;-- \n",
        price: ' 185000.50 ',
      });
      const answer = await admin.get(`/api/products/${id}`).expect(200);
      expect(productOf(answer)).toMatchObject({
        name: 'Kue "lapis" <legit> 🍰',
        description: "Line one\n\nLine two: 100 %; '); DROP TABLE products;--",
        price: 185000.5,
      });
    });

    it('decisions, Answers: name and description may be as long as documented', async () => {
      const longest = { name: 'é'.repeat(255), description: '語'.repeat(10_000), price: '1' };
      const { id } = await createProduct(admin, [], longest);
      expect(productOf(await admin.get(`/api/products/${id}`))).toMatchObject({ ...longest, price: 1 });
    });

    it.each([
      ['0', 0],
      ['0.5', 0.5],
      ['00012', 12],
      ['185000.50', 185000.5],
      ['999999999999.99', 999999999999.99],
    ])('decisions, Products: takes the price %s', async (price, shown) => {
      const product = await createProduct(admin, [], { ...CAKE, price });
      expect(product.price).toBe(shown);
      expect(productOf(await admin.get(`/api/products/${product.id}`)).price).toBe(shown);
    });
  });

  describe('interface 4.6 rule 3: fields that fail', () => {
    it('a form without fields: 400 with the documented message of each', async () => {
      const answer = await form(admin.post('/api/products'), {}).expect(400);
      expect(answer.body).toEqual(
        invalid({
          name: 'product name is required',
          description: 'product description is required',
          price: 'product price cannot be empty',
        }),
      );
      await expectNothingStored();
    });

    it('decisions, Answers: all failing fields are reported together, images included', async () => {
      const answer = await form(admin.post('/api/products'), { name: ' ', price: 'cheap' }, [
        { bytes: svgNamedPng(), name: 'a.png' },
      ]).expect(400);
      expect(answer.body).toEqual(
        invalid({
          name: 'product name is required',
          description: 'product description is required',
          price: 'price should be a number',
          images: 'a.png is not a png or jpg file',
        }),
      );
      await expectNothingStored();
    });

    it.each<[string, string, string]>([
      ['name', '', 'product name is required'],
      ['name', ' \t\n\u00a0\u2003', 'product name is required'],
      ['name', 'Kue\0lapis', 'product name contains a character that is not allowed'],
      ['name', 'x'.repeat(256), 'product name can have 255 characters at max'],
      ['description', '', 'product description is required'],
      ['description', '   ', 'product description is required'],
      ['description', '\0', 'product description contains a character that is not allowed'],
      ['description', 'x'.repeat(10_001), 'product description can have 10000 characters at max'],
      ['price', '', 'product price cannot be empty'],
      ['price', '  ', 'product price cannot be empty'],
      ...['abc', '1.234', '1e3', '0x10', '1,5', 'NaN', '12\0', '٣'].map((price): [string, string, string] => [
        'price',
        price,
        'price should be a number',
      ]),
      ...['-1', '-0.01', '1000000000000', '9'.repeat(40)].map((price): [string, string, string] => [
        'price',
        price,
        'price should be from 0 to 999999999999.99',
      ]),
    ])('%s %j: %s', async (field, value, message) => {
      const answer = await form(admin.post('/api/products'), {
        ...CAKE,
        [field]: value,
      }).expect(400);
      expect(answer.body).toEqual(invalid({ [field]: message }));
      await expectNothingStored();
    });

    it.each([
      ['name', 'product name is required'],
      ['description', 'product description is required'],
      ['price', 'product price cannot be empty'],
    ])('a repeated %s is no text', async (field, message) => {
      const answer = await form(admin.post('/api/products'), {
        ...CAKE,
        [field]: ['1', '2'],
      }).expect(400);
      expect(answer.body).toEqual(invalid({ [field]: message }));
    });

    it.each([
      'name[]',
      'name[0]',
      'name[first]',
      'name[constructor]',
      'name[__proto__]',
      'name[then]',
      'name[length]',
    ])('a structure sent as %s is no text', async (field) => {
      const answer = await form(admin.post('/api/products'), {
        [field]: 'x',
        description: 'd',
        price: '1',
      }).expect(400);
      expect(answer.body).toEqual(invalid({ name: 'product name is required' }));
    });
  });

  describe('decisions, Answers: unknown fields are dropped, never bound and never refused', () => {
    it('an id, a state, dates and a text in the field of the images change nothing', async () => {
      const { id, images } = await createProduct(admin, [{ bytes: png('kept'), name: 'kept.png' }], {
        ...CAKE,
        id: '999999',
        created_at: '1970-01-01',
        createdAt: '1970-01-01',
        images: 'http://evil.test/x',
      });
      expect(id).not.toBe(999999);
      expect(images).toHaveLength(1);
      expect((await imageAt(images[0] ?? '')).bytes).toEqual(png('kept'));
      const { rows } = await service.database.pool.query(
        "SELECT id FROM products WHERE created_at > now() - interval '1 hour'",
      );
      expect(rows).toEqual([{ id }]);
    });

    it.each([
      '__proto__',
      '__proto__[polluted]',
      'constructor',
      'constructor[prototype][polluted]',
      'prototype[polluted]',
      'toString',
      'hasOwnProperty',
      'x[constructor]',
      'x[constructor][prototype][polluted]',
      'x[__proto__][polluted]',
      'a[b][c][d][e][f][g][h][i]',
    ])('a field named %s reaches no prototype', async (field) => {
      await createProduct(admin, [], { ...CAKE, [field]: 'yes' });
      // The service's own Object.prototype: that of Jest's realm is another one.
      let prototype: object = service.app.getHttpServer();
      for (
        let next = prototype as object | null;
        next !== null;
        next = Object.getPrototypeOf(next) as object | null
      ) {
        prototype = next;
      }
      expect(Object.getOwnPropertyNames(prototype)).not.toContain('polluted');
      expect(Object.hasOwn(prototype, 'toString')).toBe(true);
    });
  });

  describe('interface 4.6 rules 1 and 3: files that fail', () => {
    it.each<[string, FormFile]>([
      ['an SVG named .png', { bytes: svgNamedPng(), name: 'a.png' }],
      ['an HTML page named .png', { bytes: htmlNamedPng(), name: 'é 語.png' }],
      ['a text named .jpg', { bytes: Buffer.from('no picture'), name: 'a.jpg' }],
      ['an empty file named .png', { bytes: Buffer.alloc(0), name: 'a.png' }],
      ['a GIF named .jpeg', { bytes: Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'), name: 'a.jpeg' }],
    ])('%s is refused by its name, before anything is uploaded', async (_, file) => {
      const answer = await form(admin.post('/api/products'), CAKE, [
        { bytes: png('good'), name: 'good.png' },
        file,
      ]).expect(400);
      expect(answer.body).toEqual(invalid({ images: `${file.name} is not a png or jpg file` }));
      await expectNothingStored();
    });

    it('files in other fields are refused together with the fields that fail, and say where files belong', async () => {
      const answer = await form(admin.post('/api/products'), { ...CAKE, price: '-1' }, [
        { bytes: png(), name: 'a.png', field: 'avatar' },
        { bytes: png(), name: 'b.png', field: 'images[]' },
        { bytes: png(), name: 'c.png', field: '__proto__' },
        { bytes: png(), name: 'd.gif' },
      ]).expect(400);
      expect(answer.body).toEqual(
        invalid({
          price: 'price should be from 0 to 999999999999.99',
          avatar: 'files belong in the field images',
          ['__proto__']: 'files belong in the field images',
          images: UNSUPPORTED,
        }),
      );
      await expectNothingStored();
    });

    it.each<[string, FormFile]>([
      ['a PNG named .gif', { bytes: png(), name: 'a.gif' }],
      ['a PNG named .png.html', { bytes: png(), name: 'a.png.html' }],
      ['a PNG named .webp', { bytes: png(), name: 'a.webp' }],
      ['a PNG without an extension', { bytes: png(), name: 'png' }],
    ])('%s: 400 before anything is uploaded', async (_, file) => {
      const answer = await form(admin.post('/api/products'), CAKE, [
        { bytes: png('good'), name: 'good.png' },
        file,
      ]).expect(400);
      expect(answer.body).toEqual(invalid({ images: UNSUPPORTED }));
      await expectNothingStored();
    });

    it.each<[string, FormFile, string]>([
      ['.PNG', { bytes: png(), name: 'A.PNG' }, 'image/png'],
      ['.JpEg', { bytes: jpeg(), name: 'a.JpEg' }, 'image/jpeg'],
      ['.jpeg', { bytes: jpeg(), name: 'a.jpeg' }, 'image/jpeg'],
      ['a JPEG named .png', { bytes: jpeg(), name: 'a.png' }, 'image/jpeg'],
      ['a PNG named .jpg', { bytes: png(), name: 'a.jpg' }, 'image/png'],
      ['a name with dots, slashes and letters', { bytes: png(), name: '../../é 語.v2.png' }, 'image/png'],
    ])('takes %s and shows it as what its content is', async (_, file, type) => {
      const { images } = await createProduct(admin, [file]);
      expect(await imageAt(images[0] ?? '')).toEqual({ type, bytes: file.bytes });
    });

    it.each([6, 12])('decisions, Products: %d files: 400, details.images', async (count) => {
      const answer = await form(admin.post('/api/products'), CAKE, pictures(count)).expect(400);
      expect(answer.body).toEqual(invalid({ images: FIVE_AT_MAX }));
      await expectNothingStored();
    });

    it('takes files of exactly 5 MiB, all five of them', async () => {
      const files = pictures(5).map(({ bytes, name }) => ({ bytes: padded(bytes, 5 * MIB), name }));
      const { images } = await createProduct(admin, files);
      const { bytes } = await imageAt(images[4] ?? '');
      expect(bytes.equals(files[4]?.bytes ?? Buffer.alloc(0))).toBe(true);
    });

    it.each([1, 5])('decisions, Answers: file %d of one byte more than 5 MiB: 413', async (which) => {
      const files = pictures(which);
      files[which - 1] = { bytes: padded(png(), 5 * MIB + 1), name: 'big.png' };
      const answer = await form(admin.post('/api/products'), CAKE, files).expect(413);
      expect(answer.body).toEqual(fail(413, 'an image can have 5 MiB at max'));
      await expectNothingStored();
    });
  });

  describe('who may create, asked before the body is read', () => {
    it('interface 4.6 rule 4: a customer gets 403, whatever the form holds', async () => {
      const customer = await service.customer();
      for (const request of [
        form(customer.post('/api/products'), CAKE, pictures(1)),
        form(customer.post('/api/products'), {}),
        customer.post('/api/products').type('multipart/form-data').send('no form'),
        customer.post('/api/products').type('json').send('{"name'),
        form(customer.post('/api/products'), CAKE, [{ bytes: padded(png(), 6 * MIB), name: 'a.png' }]),
      ]) {
        const answer = await request;
        expect({ status: answer.status, body: answer.body as unknown }).toEqual({
          status: 403,
          body: fail(403, 'this action is only for user with admin access'),
        });
      }
      await expectNothingStored();
    });

    it('decisions, Accounts: without a cookie 401, with a bad one 400, before role and fields', async () => {
      const missing = await form(service.client().post('/api/products'), {}).expect(401);
      expect(missing.body).toEqual(fail(401, 'access token missing or expired'));
      const bad = await form(service.client().setCookie('accessToken', 'x').post('/api/products'), {}).expect(
        400,
      );
      expect(bad.body).toEqual(fail(400, 'invalid or malformed access token'));
    });
  });

  describe('decisions, Answers: bodies that are no whole form', () => {
    const MALFORMED = fail(400, 'malformed request');
    const EMPTY = invalid({
      name: 'product name is required',
      description: 'product description is required',
      price: 'product price cannot be empty',
    });
    const FIELD = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nKue\r\n';

    it.each([
      ['JSON', 'application/json', JSON.stringify(CAKE)],
      ['a URL-encoded form', 'application/x-www-form-urlencoded', 'name=a&description=b&price=1'],
      ['text', 'text/plain', 'name=a'],
      ['a form whose content type is malformed', 'multipart/form-data; boundary=', `${FIELD}--b--\r\n`],
      ['a multipart body of another kind', 'multipart/mixed; boundary=b', `${FIELD}--b--\r\n`],
    ])('%s counts as an empty form', async (_, type, text) => {
      const answer = await admin.post('/api/products').set('Content-Type', type).send(text).expect(400);
      expect(answer.body).toEqual(EMPTY);
    });

    it('no body at all counts as an empty form', async () => {
      const answer = await admin.post('/api/products').expect(400);
      expect(answer.body).toEqual(EMPTY);
    });

    it.each([
      ['no boundary', 'multipart/form-data', `${FIELD}--b--\r\n`],
      ['another boundary', 'multipart/form-data; boundary=c', `${FIELD}--b--\r\n`],
      ['no final boundary', 'multipart/form-data; boundary=b', FIELD],
      [
        'a file cut short',
        'multipart/form-data; boundary=b',
        `${FIELD}--b\r\nContent-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n\x89PNG`,
      ],
      ['a header cut short', 'multipart/form-data; boundary=b', `${FIELD}--b\r\nContent-Dispo`],
      ['no form in it', 'multipart/form-data; boundary=b', '{"name":"Kue"}'],
      ['a body that is empty', 'multipart/form-data; boundary=b', ''],
      [
        'a part without a name',
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n',
      ],
    ])('a form with %s: 400', async (_, type, text) => {
      const answer = await admin
        .post('/api/products')
        .set('Content-Type', type)
        .set('Content-Length', String(Buffer.byteLength(text)))
        .send(text)
        .expect(400);
      expect(answer.body).toEqual(MALFORMED);
      await expectNothingStored();
    });

    it('a file input that was left empty, as browsers send it, is no file', async () => {
      const text = Object.entries(CAKE)
        .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
        .join('');
      const answer = await admin
        .post('/api/products')
        .set('Content-Type', 'multipart/form-data; boundary=b')
        .send(
          `${text}--b\r\nContent-Disposition: form-data; name="images"; filename=""\r\n` +
            'Content-Type: application/octet-stream\r\n\r\n\r\n--b--\r\n',
        )
        .expect(201);
      expect(productOf(answer).images).toEqual([]);
    });

    it.each([
      ['a field of 65 KiB', { ...CAKE, unknown: 'x'.repeat(65 * 1024 + 1) }],
      ['201 fields', { ...CAKE, unknown: Array.from({ length: 201 }, () => 'x') }],
      ['a field name of more than 1 KiB', { ...CAKE, ['x'.repeat(1025)]: 'x' }],
    ])('%s: 413', async (_, fields) => {
      const answer = await form(admin.post('/api/products'), fields).expect(413);
      expect(answer.body).toEqual(fail(413, 'request is too large'));
      await expectNothingStored();
    });

    it.each([
      ['nested too deep', `x${'[a]'.repeat(50)}`],
      ['with a huge index', 'x[99999999]'],
    ])('a field name %s: 400', async (_, field) => {
      const answer = await form(admin.post('/api/products'), {
        ...CAKE,
        [field]: 'x',
      }).expect(400);
      expect(answer.body).toEqual(MALFORMED);
    });

    it('a caller that hangs up in the middle of a file leaves neither a product nor a file', async () => {
      const before = await filesUnder(service.dataDir);
      const { port } = new URL(service.url);
      const socket = connect(Number(port), '127.0.0.1');
      const head = Object.entries(CAKE)
        .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
        .join('');
      socket.write(
        'POST /api/products HTTP/1.1\r\nHost: bakery.test\r\nX-Request-Id: hung-up\r\n' +
          `Cookie: accessToken=${admin.cookie('accessToken')}\r\nContent-Length: 5000000\r\n` +
          `Content-Type: multipart/form-data; boundary=b\r\n\r\n${head}` +
          '--b\r\nContent-Disposition: form-data; name="images"; filename="a.png"\r\n\r\n',
      );
      socket.write(padded(png(), 2 * MIB), () => socket.destroy());
      await until('the request is logged', () =>
        service.log.some(({ requestId }) => requestId === 'hung-up'),
      );
      await expectNothingStored();
      expect(await filesUnder(service.dataDir)).toEqual(before);
      expect(service.log.filter(({ level }) => level === 'error')).toEqual([]);
    });
  });

  it('interface section 7: an unknown path under products is the documented 404', async () => {
    const answer = await admin.post('/api/products/1').expect(404);
    expect(answer.body).toEqual(NOT_FOUND);
  });
});

async function filesUnder(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
