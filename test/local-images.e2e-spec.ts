import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { sizedImage } from '../client/images.js';
import { buildFailure, expectFailure, MESSAGES } from './support/failure.js';
import {
  createBomb,
  createFlatPhoto,
  createJpeg,
  createPhoto,
  createPng,
  insertPart,
  padTo,
  PHOTO_EXIF,
} from './support/pictures.js';
import { createProduct } from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { useService } from './support/service.js';
import { inParallel, until } from './support/wait.js';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FLAT = { create: { width: 30, height: 20, channels: 3, background: 'brown' } } as const;
const CACHED_FOREVER = 'public, max-age=31536000, immutable';

const service = await useService();

/** Stores an image of a product. Returns the path of its URL. */
async function storeImage(bytes: Buffer): Promise<string> {
  const { images } = await createProduct(await service.admin(), [{ bytes, name: 'a.png' }]);
  const { origin, pathname } = new URL(images[0] ?? '');
  expect(origin).toBe('http://bakery.test');
  return pathname;
}

describe('a locally stored image', () => {
  it.each([
    ['PNG', createPng('type'), 'image/png', /\.png$/],
    ['JPEG', createJpeg('type'), 'image/jpeg', /\.jpg$/],
  ])(
    '(%s) is sent to anyone exactly as it is stored; browsers may cache it forever, but may not guess its type',
    async (_, bytes, type, name) => {
      const path = await storeImage(bytes);
      expect(path).toMatch(name);
      const response = await service.client().get(path).expect(200);
      expect(response.body).toEqual(bytes);
      expect(response.headers).toMatchObject({
        'content-type': type,
        'content-length': String(bytes.length),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': CACHED_FOREVER,
        'x-request-id': expect.any(String) as string,
      });
      expect(response.headers['set-cookie']).toBeUndefined();
    },
  );

  it('is sent unless the request has the current ETag (304) or an If-Match condition that fails (412)', async () => {
    const path = await storeImage(createPng('etag'));
    const get = () => service.client().get(path);
    const { etag } = (await get().expect(200)).headers as { etag: string };
    const unchanged = await get().set('If-None-Match', etag).expect(304);
    expect(unchanged.headers).toMatchObject({ etag, 'cache-control': CACHED_FOREVER });
    await get().set('If-None-Match', '"another"').expect(200);
    expectFailure(await get().set('If-Match', '"another"'), 412, MESSAGES.changedMeanwhile);
  });
});

describe('an uploaded photo', () => {
  const download = async (path: string) => {
    const response = await service.client().get(path).buffer(true).expect(200);
    return { bytes: response.body as Buffer, headers: response.headers };
  };

  it.each(['jpeg', 'png'] as const)(
    '(%s) is stored upright in its own format, at most 2,000 px wide and high, without metadata',
    async (format) => {
      // A PNG without noise, because a noisy one would exceed 5 MiB.
      const file = format === 'jpeg' ? await createPhoto() : await createFlatPhoto();
      expect(await sharp(file).metadata()).toMatchObject({ width: 4000, orientation: 6 });
      const { bytes } = await download(await storeImage(file));
      const metadata = await sharp(bytes).metadata();
      expect(metadata).toMatchObject({ format, width: 1500, height: 2000 });
      for (const field of ['exif', 'icc', 'xmp', 'iptc', 'orientation'])
        expect(metadata).not.toHaveProperty(field);
      expect(bytes.includes('Phone')).toBe(false);
    },
  );

  it.each([
    ['a comment of a JPEG', 'jpeg', 0xfe, 'secret-place'],
    ['a thumbnail of a JPEG', 'jpeg', 0xe0, 'JFXX\0secret-place'],
    ['a second JPEG for other cameras', 'jpeg', 0xe2, 'MPF\0secret-place'],
    ['a segment of an image editor', 'jpeg', 0xec, 'Ducky secret-place'],
    ['bytes behind the color transform of Adobe', 'jpeg', 0xee, 'Adobe\0d\0\0\0\0\u0001secret-place'],
    ['a text of a PNG', 'png', 'tEXt', 'Comment\0secret-place'],
    ['a private chunk of a PNG', 'png', 'prVt', 'secret-place'],
  ] as const)('is stored without %s', async (_, format, kind, content) => {
    const file = insertPart(await sharp(FLAT).toFormat(format).toBuffer(), kind, content);
    const { bytes } = await download(await storeImage(file));
    expect(bytes.includes('secret-place')).toBe(false);
    expect(await sharp(bytes).metadata()).toMatchObject({ format, width: 30, height: 20 });
  });

  it.each(['jpeg', 'png'] as const)(
    '(%s) is stored without the bytes that follow the image',
    async (format) => {
      const file = await sharp(FLAT).toFormat(format).toBuffer();
      expect((await download(await storeImage(file))).bytes).toEqual(file);
      // Phones append a second image, which has an end of its own.
      const second =
        format === 'jpeg'
          ? insertPart(file, 0xfe, 'secret-place')
          : insertPart(file, 'tEXt', 'Comment\0secret-place');
      for (const trailer of [second, Buffer.from('secret-place')]) {
        const { bytes } = await download(await storeImage(Buffer.concat([file, trailer])));
        expect(bytes).toEqual(file);
      }
    },
  );

  it('is stored without metadata if its end is missing, and stays as it is if it is damaged or has too many pixels', async () => {
    const truncated = (await createPhoto()).subarray(0, 400_000);
    const { bytes } = await download(await storeImage(truncated));
    expect(await sharp(bytes, { failOn: 'none' }).metadata()).toMatchObject({ width: 1500, height: 2000 });
    for (const file of [createBomb(), createJpeg('no image'), padTo(createPng().subarray(0, 40), 100)]) {
      const path = await storeImage(file);
      expect((await download(path)).bytes).toEqual(file);
      const { bytes: fallback, headers } = await download(`${path}?w=480`);
      expect(fallback).toEqual(file);
      // Not forever, because a version may be created later.
      expect(headers['cache-control']).toBe('public, max-age=60');
    }
  });

  it.each(['jpeg', 'png'] as const)(
    'is stored with its size, but only with the metadata that its colors and its direction need, if its pixels exceed the limits (%s)',
    async (format) => {
      // Progressive JPEGs, and PNGs that must be turned, may have 25 million pixels.
      const flat = sharp({ create: { ...FLAT.create, width: 6001, height: 4200 } }).withExif(PHOTO_EXIF);
      const file = await flat
        .withMetadata({ orientation: 6 })
        .withIccProfile('p3')
        .toFormat(format, { progressive: format === 'jpeg' })
        .toBuffer();
      const { bytes } = await download(await storeImage(file));
      expect(await sharp(bytes).metadata()).toMatchObject({
        format,
        width: 6001,
        orientation: 6,
        hasProfile: true,
      });
      expect(bytes.includes('Phone')).toBe(false);
      const decode = (image: Buffer) => sharp(image).resize(100).raw().toBuffer();
      expect((await decode(bytes)).equals(await decode(file))).toBe(true);
      const truncated = file.subarray(0, -20);
      const { bytes: stored } = await download(await storeImage(truncated));
      expect(stored.includes('Phone')).toBe(false);
      const metadata = await sharp(stored, { failOn: 'none' }).metadata();
      expect(metadata).toMatchObject({ format, width: 6001, orientation: 6 });
    },
  );

  it('is stored in RGB if its colors are those of print (CMYK)', async () => {
    const file = await sharp(FLAT).toColourspace('cmyk').jpeg().toBuffer();
    const { bytes } = await download(await storeImage(file));
    expect(await sharp(bytes).metadata()).toMatchObject({ space: 'srgb', width: 30, height: 20 });
  });

  it('has versions of 480 and 960 px, which browsers cache forever; any other width is ignored', async () => {
    const path = await storeImage(await createPhoto());
    const original = await download(path);
    for (const width of [480, 960] as const) {
      const url = sizedImage(`http://bakery.test${path}`, width);
      expect(url).toBe(`http://bakery.test${path}?w=${width}`);
      const versions = await inParallel(50, () => download(`${path}?w=${width}`));
      const [{ bytes, headers } = original] = versions;
      expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width });
      expect(headers).toMatchObject({ 'content-type': 'image/jpeg', 'cache-control': CACHED_FOREVER });
      // Not `toEqual`, which compares every byte slowly.
      expect(versions.every((version) => version.bytes.equals(bytes))).toBe(true);
    }
    for (const query of ['w=481', 'w=', 'w=480&w=960', 'w[]=480', 'w=4.8e2', 'w=-480'])
      expect((await download(`${path}?${query}`)).bytes.equals(original.bytes)).toBe(true);
    // The file name of a version is not a path.
    await service.client().get(path.replace('.jpg', '-480.jpg')).expect(404);
  });

  it('is never enlarged', async () => {
    const small = await sharp(FLAT).png().toBuffer();
    expect((await download(`${await storeImage(small)}?w=480`)).bytes).toEqual(small);
  });

  it('disappears with its smaller versions when its product is deleted, while other images stay', async () => {
    const admin = await service.admin();
    const other = await storeImage(createPng('other'));
    const { id, images } = await createProduct(admin, [{ bytes: await createPhoto(), name: 'a.jpg' }]);
    const { pathname } = new URL(images[0] ?? '');
    await service.client().get(`${pathname}?w=480`).expect(200);
    const folder = join(service.dataDir, 'images', pathname.split('/').at(-1)?.slice(0, 2) ?? '');
    const listFiles = async () =>
      (await readdir(folder)).filter((name) => pathname.includes(name.slice(0, ID.length)));
    expect(await listFiles()).toHaveLength(2);
    await admin.delete(`/api/products/${id}`).expect(204);
    await until('no file is left', async () => (await listFiles()).length === 0);
    for (const path of [pathname, `${pathname}?w=480`]) await service.client().get(path).expect(404);
    await service.client().get(other).expect(200);
  });
});

describe('a path that names no stored image', () => {
  beforeAll(async () => {
    const folder = join(service.dataDir, 'images', ID.slice(0, 2));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${ID}.tmp`), createPng('half written'));
    await writeFile(join(folder, `${ID}.svg`), '<svg/>');
    await writeFile(join(service.dataDir, 'secret.png'), createPng('secret'));
    await symlink(join(service.dataDir, 'secret.png'), join(folder, `${ID}.png`));
  });

  /** Requests a path exactly as written. HTTP clients would normalize `..`. */
  async function getRaw(name: string) {
    const request = `GET /api/images/${name} HTTP/1.1\r\nHost: bakery.test\r\nConnection: close\r\n\r\n`;
    const [response] = await sendRaw(service.url, request);
    return { status: response?.status, body: JSON.parse(response?.body ?? '') as unknown };
  }

  it.each([
    `${ID}.png`, // The symbolic link.
    `${ID}.tmp`,
    `${ID}.svg`,
    ID,
    `${ID}.png%00`,
    '..%2Fsecret.png',
    '../secret.png',
    '%2Fetc%2Fpasswd',
    '',
  ])('(%s) gets 404', async (name) => {
    expect(await getRaw(name)).toEqual({ status: 404, body: buildFailure(404, MESSAGES.notFound) });
  });
});
