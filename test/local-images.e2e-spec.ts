import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expectFailure, MESSAGES, NOT_FOUND } from './support/failure.js';
import { jpeg, padded, png } from './support/pictures.js';
import { createProduct } from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const CACHED_FOREVER = 'public, max-age=31536000, immutable';

const service = useService();

/** Stores an image of a product. @returns the path of its URL */
async function storeImage(bytes: Buffer): Promise<string> {
  const { images } = await createProduct(await service.admin(), [{ bytes, name: 'a.png' }]);
  const { origin, pathname } = new URL(images[0] ?? '');
  expect(origin).toBe('http://bakery.test');
  return pathname;
}

describe('a locally stored image', () => {
  it.each([
    ['PNG', png('type'), 'image/png', /\.png$/],
    ['JPEG', jpeg('type'), 'image/jpeg', /\.jpg$/],
  ])(
    '(%s) is sent to anyone unchanged; browsers may cache it forever, but may not guess its type',
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

  it('is sent unless the request has the current ETag: then the response is 304', async () => {
    const path = await storeImage(png('etag'));
    const { etag } = (await service.client().get(path).expect(200)).headers as { etag: string };
    const unchanged = await service.client().get(path).set('If-None-Match', etag).expect(304);
    expect(unchanged.headers).toMatchObject({ etag, 'cache-control': CACHED_FOREVER });
    await service.client().get(path).set('If-None-Match', '"another"').expect(200);
  });

  it('is not sent if the request has an If-Match condition that fails: the response is 400', async () => {
    const response = await service
      .client()
      .get(await storeImage(png('condition')))
      .set('If-Match', '"another"');
    expectFailure(response, 400, MESSAGES.malformedRequest);
  });

  it('causes no error in the log when a client disconnects during a download', async () => {
    const path = await storeImage(padded(png('long'), 5 * 1024 * 1024));
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bakery.test\r\nX-Request-Id: left\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    const line = await until('the first log line', () =>
      service.log.find(({ requestId }) => requestId === 'left'),
    );
    expect(line).toMatchObject({ level: 'info', aborted: true });
  });
});

describe('a path that names no stored image', () => {
  beforeAll(async () => {
    const folder = join(service.dataDir, 'images', ID.slice(0, 2));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${ID}.tmp`), png('half written'));
    await writeFile(join(folder, `${ID}.svg`), '<svg/>');
    await writeFile(join(service.dataDir, 'secret.png'), png('secret'));
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
    expect(await getRaw(name)).toEqual({ status: 404, body: NOT_FOUND });
  });

  it('gets 400 if its percent-encoding is invalid', async () => {
    expect(await getRaw('%E0%A4%A')).toMatchObject({ status: 400 });
  });
});
