import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Client } from './support/client.js';
import { noisyPng, png } from './support/pictures.js';
import { CAKE, fail, form, productCount } from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';
import { BOUNDARY, formPieces } from './support/upload-load.js';
import { until } from './support/wait.js';

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

function open(): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}

/** Node takes the shorter of the two for the headers, so that both are set. */
async function withTimeouts<T>(milliseconds: number, use: () => Promise<T>): Promise<T> {
  const { headersTimeout, requestTimeout } = server;
  Object.assign(server, { headersTimeout: milliseconds, requestTimeout: milliseconds });
  try {
    return await use();
  } finally {
    Object.assign(server, { headersTimeout, requestTimeout });
  }
}

async function statusesOf(bytes: string): Promise<number[]> {
  return (await sendRaw(service.url, bytes)).map(({ status }) => status);
}

describe('hostile input: slow senders', () => {
  it('have 10 s for the headers and 60 s for all, looked at every second', () => {
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 5_000 });
    // Node keeps the interval to itself.
    const state = Object.getOwnPropertySymbols(server).find(({ description }) =>
      description?.includes('http.server.connectionsCheckingInterval'),
    );
    const interval =
      state === undefined ? undefined : (server as unknown as Record<symbol, { _repeat?: number }>)[state];
    expect(interval?._repeat).toBe(1000);
  });

  it.each([
    ['headers', `GET /api/users HTTP/1.1\r\n${HOST}X-Slow: `],
    ['a body', `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 100\r\n\r\n{"em`],
    ['chunks', `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2\r\n{"`],
  ])('half-sent %s and then silence: 408 and the connection is closed', async (_, bytes) => {
    const [answer] = await withTimeouts(300, () => sendRaw(service.url, bytes));
    expect(answer?.status).toBe(408);
    expect(JSON.parse(answer?.body ?? '')).toEqual(fail(408, 'request took too long'));
  });

  it('500 that never finish their headers keep nobody else waiting, and are all closed', async () => {
    const sockets = Array.from({ length: 500 }, open);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(`GET /api/users HTTP/1.1\r\n${HOST}X-Slow: `);
    const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    const begun = Date.now();
    await service.client().get('/api/health/live').expect(200);
    await admin.get('/api/users').expect(200);
    expect(Date.now() - begun).toBeLessThan(2000);
    await withTimeouts(200, () => closed);
  });

  it('a form that stops in a file leaves neither a product nor a file', async () => {
    const pieces = Buffer.concat(formPieces(CAKE, [noisyPng(500, 500)]));
    const head =
      `POST /api/products HTTP/1.1\r\n${HOST}Cookie: accessToken=${admin.cookie('accessToken')}\r\n` +
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${pieces.length}\r\n\r\n`;
    const half = Buffer.concat([Buffer.from(head), pieces.subarray(0, 600_000)]);
    const [answer] = await withTimeouts(500, () => sendRaw(service.url, half));
    expect(answer?.status).toBe(408);
    expect(await productCount(service.database)).toBe(0);
  });
});

describe('hostile input: sizes', () => {
  it.each([
    ['100 headers', 100 - 2, 401],
    ['101 headers', 101 - 2, 431],
    ['1,500 headers', 1500, 431],
  ])('%s: %d besides Host and Connection are %d', async (_, count, status) => {
    const headers = Array.from({ length: count }, (__, index) => `X${index}: 1\r\n`).join('');
    expect(await statusesOf(`GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}${headers}\r\n`)).toEqual([status]);
  });

  it('a URL of 20,000 characters: 431', async () => {
    expect(await statusesOf(`GET /api/products?${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`)).toEqual([
      431,
    ]);
  });

  it('JSON of more than 100 KiB: 413, also when gzip makes it small', async () => {
    const large = JSON.stringify({ email: 'x'.repeat(20_000_000) });
    const plain = service.client().post('/api/login').type('json');
    expect((await plain.send(large.slice(0, 102_401))).status).toBe(413);
    const bomb = service.client().post('/api/login').type('json').set('Content-Encoding', 'gzip');
    void bomb.serialize((body: unknown) => body as string);
    expect((await bomb.send(gzipSync(large))).status).toBe(413);
  });

  it('a compressed form: 415', async () => {
    const answer = await form(admin.post('/api/products'), CAKE).set('Content-Encoding', 'gzip');
    expect(answer.body).toEqual(fail(415, 'content encoding or character set is not supported'));
  });

  it('a form that says it has more than 64 MiB: 413 before it is sent', async () => {
    const [answer] = await sendRaw(
      service.url,
      `POST /api/products HTTP/1.1\r\n${HOST}${CLOSE}Cookie: accessToken=${admin.cookie('accessToken')}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 70000000\r\n\r\n',
    );
    expect(answer?.status).toBe(413);
  });

  it('fields of more than 256 KiB together: 413', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`x${index}`, 'x'.repeat(60_000)]),
    );
    const answer = await form(admin.post('/api/products'), { ...CAKE, ...fields });
    expect(answer.body).toEqual(fail(413, 'request is too large'));
  });

  it('chunk extensions without end: 413', async () => {
    expect(
      await statusesOf(
        `POST /api/login HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}`,
      ),
    ).toEqual([413]);
  });
});

describe('hostile input: what HTTP allows and next to nobody sends', () => {
  it.each<[string, string, number[]]>([
    [
      'an upgrade',
      `GET /api/users HTTP/1.1\r\n${HOST}Connection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      [401],
    ],
    ['HTTP/1.0', 'GET /api/users HTTP/1.0\r\n\r\n', [401]],
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
  ])('%s', async (_, bytes, statuses) => {
    expect(await statusesOf(bytes)).toEqual(statuses);
  });

  it('a client that asks with Expect: 100-continue is told to send its body', async () => {
    const head = `POST /api/login HTTP/1.1\r\n${HOST}${CLOSE}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
    expect(await statusesOf(`${head}{}`)).toEqual([100, 400]);
  });

  it('1,000 requests in a row on one connection are all answered', async () => {
    const one = `GET /api/users HTTP/1.1\r\n${HOST}\r\n`;
    const statuses = await statusesOf(one.repeat(999) + `GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}\r\n`);
    expect(statuses).toEqual(Array.from({ length: 1000 }, () => 401));
  });
});

describe('hostile input: no room for an upload', () => {
  it('the folder of uploads is made again, and where it cannot be: the documented 500', async () => {
    const folder = join(service.dataDir, 'uploads');
    const large = [{ bytes: noisyPng(400, 400), name: 'a.png' }];
    await rm(folder, { recursive: true });
    await form(admin.post('/api/products'), CAKE, large).expect(201);
    const products = await productCount(service.database);

    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    const answer = await form(admin.post('/api/products'), CAKE, [...large, ...large]).expect(500);
    expect(answer.body).toEqual(
      fail(500, 'fail to create product and this is not your fault, please try again later'),
    );
    expect(await productCount(service.database)).toBe(products);
    // Small pictures need no folder.
    await form(admin.post('/api/products'), CAKE, [{ bytes: png(), name: 'a.png' }]).expect(201);
    await rm(folder);
    await mkdir(folder);
    await until(
      'uploads work again',
      async () => (await form(admin.post('/api/products'), CAKE, large)).status === 201,
    );
  });
});
