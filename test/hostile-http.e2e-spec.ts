import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Client } from './support/client.js';
import { noisyPng } from './support/pictures.js';
import { CAKE, fail, form, productCount } from './support/products.js';
import { sendRaw, type RawAnswer } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';
import { BOUNDARY, formPieces } from './support/upload-load.js';

const HOST = 'Host: bakery.test\r\n';
const CLOSE = 'Connection: close\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

let service: TestService;
let server: Server;
let admin: Client;

beforeAll(async () => {
  service = await startService();
  server = service.app.getHttpServer();
  admin = await service.admin();
});

afterAll(() => service.stop());

async function statusesOf(bytes: string): Promise<number[]> {
  return (await sendRaw(service.url, bytes)).map(({ status }) => status);
}

function expectRefusal(answers: readonly RawAnswer[], status: number, message: string): void {
  expect(answers).toHaveLength(1);
  const [answer] = answers;
  expect(answer?.status).toBe(status);
  expect(JSON.parse(answer?.body ?? '')).toEqual(fail(status, message));
  expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer?.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  expect(answer?.headers).not.toHaveProperty('x-powered-by');
}

describe('malformed HTTP', () => {
  it.each([
    ['rubbish', 'rubbish\r\n\r\n'],
    ['a TLS greeting', Buffer.from('16030100f6010000f20303', 'hex')],
    ['an unknown method', `BAKE /api/users HTTP/1.1\r\n${HOST}\r\n`],
    ['no Host', `GET /api/users HTTP/1.1\r\n${CLOSE}\r\n`],
    ['a header without a colon', `GET /api/users HTTP/1.1\r\n${HOST}no colon\r\n\r\n`],
    ['a NUL in a header', `GET /api/users HTTP/1.1\r\n${HOST}X-A: a\0b\r\n\r\n`],
    ['two lengths', `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      'a length and chunks',
      `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    [
      'a broken chunk',
      `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    ],
  ])('%s is refused with 400 in the fail envelope (contract 7)', async (_what, bytes) => {
    expectRefusal(await sendRaw(service.url, bytes), 400, 'malformed request');
  });

  it('a malformed request after a good one on the same connection is answered as well', async () => {
    const good = `GET /api/users HTTP/1.1\r\n${HOST}\r\n`;
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(good);
    await once(socket, 'data');
    socket.write('rubbish\r\n\r\n');
    await once(socket, 'close');
    expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['401', '400']);
  });

  it.each([
    ['HTTP/1.0 without Host', 'GET /api/users HTTP/1.0\r\n\r\n', [401]],
    ['an unknown expectation', `GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}Expect: cake\r\n\r\n`, [401]],
    [
      'an upgrade',
      `GET /api/users HTTP/1.1\r\n${HOST}Connection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      [401],
    ],
    [
      'a body on GET',
      `GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}${JSON_TYPE}Content-Length: 2\r\n\r\n{}`,
      [401],
    ],
    [
      'chunks with extensions and trailers',
      `POST /api/login HTTP/1.1\r\n${HOST}${CLOSE}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n` +
        '2;a=b\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n',
      [400],
    ],
    [
      'Expect: 100-continue',
      `POST /api/login HTTP/1.1\r\n${HOST}${CLOSE}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
      [100, 400],
    ],
    [
      'two requests in a row',
      `GET /api/users HTTP/1.1\r\n${HOST}\r\nGET /nothing HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
      [401, 404],
    ],
  ])('%s is allowed and answered as usual', async (_what, bytes, statuses) => {
    expect(await statusesOf(bytes)).toEqual(statuses);
  });
});

describe('slow clients', () => {
  /** Node takes the shorter of the two for the headers, so both are set. */
  async function withTimeouts<T>(milliseconds: number, use: () => Promise<T>): Promise<T> {
    const { headersTimeout, requestTimeout } = server;
    Object.assign(server, { headersTimeout: milliseconds, requestTimeout: milliseconds });
    try {
      return await use();
    } finally {
      Object.assign(server, { headersTimeout, requestTimeout });
    }
  }

  it('have 10 s for the headers and 60 s for all (contract 7)', () => {
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 5_000 });
  });

  it.each([
    ['headers', `GET /api/users HTTP/1.1\r\n${HOST}X-Slow: `],
    ['a body', `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 100\r\n\r\n{"em`],
    ['chunks', `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2\r\n{"`],
  ])('that stop in %s are answered 408 within a second after their time', async (_what, bytes) => {
    const [answer] = await withTimeouts(300, () => sendRaw(service.url, bytes));
    expect(JSON.parse(answer?.body ?? '')).toEqual(fail(408, 'request took too long'));
  });

  it('that stop in a file leave no product', async () => {
    const pieces = Buffer.concat(formPieces(CAKE, [noisyPng(750_000)]));
    const head =
      `POST /api/products HTTP/1.1\r\n${HOST}Cookie: accessToken=${admin.cookie('accessToken')}\r\n` +
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${pieces.length}\r\n\r\n`;
    const half = Buffer.concat([Buffer.from(head), pieces.subarray(0, 600_000)]);
    const [answer] = await withTimeouts(500, () => sendRaw(service.url, half));
    expect(answer?.status).toBe(408);
    expect(await productCount(service.database)).toBe(0);
  });

  it('keep no other client waiting, 500 at a time, and are all disconnected', async () => {
    const open = (): Socket =>
      connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    const sockets = Array.from({ length: 500 }, open);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(`GET /api/users HTTP/1.1\r\n${HOST}X-Slow: `);
    const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    const begun = Date.now();
    await admin.get('/api/users').expect(200);
    expect(Date.now() - begun).toBeLessThan(2000);
    await withTimeouts(200, () => closed);
  });
});

describe('sizes', () => {
  it.each([
    ['100 headers', 100 - 2, 401],
    ['101 headers', 101 - 2, 431],
    ['1,500 headers', 1500, 431],
  ])('%s: %d besides Host and Connection are %d (contract 7)', async (_what, count, status) => {
    const headers = Array.from({ length: count }, (__, index) => `X${index}: 1\r\n`).join('');
    expect(await statusesOf(`GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}${headers}\r\n`)).toEqual([status]);
  });

  it.each([
    ['a URL of 20,000 characters', `GET /api/products?${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
    [
      'a cookie of 20,000 characters',
      `GET /api/users HTTP/1.1\r\n${HOST}Cookie: accessToken=${'x'.repeat(20_000)}\r\n\r\n`,
    ],
  ])('%s is 431', async (_what, bytes) => {
    expectRefusal(await sendRaw(service.url, bytes), 431, 'request headers are too large');
  });

  it('endless chunk extensions are 413', async () => {
    const head = `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`;
    expect(await statusesOf(`${head}2;${'x'.repeat(40_000)}`)).toEqual([413]);
  });

  it('a compressed form is 415', async () => {
    const answer = await form(admin.post('/api/products'), CAKE).set('Content-Encoding', 'gzip');
    expect(answer.body).toEqual(fail(415, 'content encoding or character set is not supported'));
  });

  it('JSON of more than 100 KiB is 413, also when gzip makes it small (contract 8)', async () => {
    const large = JSON.stringify({ email: 'x'.repeat(20_000_000) });
    const bomb = service.client().post('/api/login').type('json').set('Content-Encoding', 'gzip');
    void bomb.serialize((body: unknown) => body as string);
    expect((await bomb.send(gzipSync(large))).body).toEqual(fail(413, 'request is too large'));
  });
});
