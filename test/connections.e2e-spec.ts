import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createNoisyPng } from './support/pictures.js';
import { createProduct } from './support/products.js';
import { openSocket, sendRaw } from './support/raw-http.js';
import { useService } from './support/service.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const HOST = 'Host: bakery.test\r\n';
/** Enough to exceed the operating system's buffers for a connection. */
const PIPELINED_IMAGES = 3;

const WINDOW_MS = 1_200;
/** Bytes after which the steady reader pauses. With these pauses, reading the images takes longer than the window. */
const READ_BYTES = 256 * 1024;
const READ_PAUSE_MS = 40;
/**
 * Bytes after which the slow reader pauses. At this rate, the operating system accepts no more of the response during a window, so
 * only the client's acknowledgements show progress. A local client may acknowledge only every 380 KiB, which the reader reads at
 * least once in a window.
 */
const SLOW_READ_BYTES = 64 * 1024;
const SLOW_PAUSE_MS = 100;

const service = await useService({ minimumReadRate: { bytesPerSecond: 1024, windowMs: WINDOW_MS } });

const server: Server = service.app.getHttpServer();
const product = await createProduct(await service.admin(), [
  { bytes: createNoisyPng(5 * MIB), name: 'cake.png' },
]);
const imagePath = new URL(product.images[0] ?? '').pathname;

/** Builds a POST request with an ASCII body. */
function buildPost(path: string, body: object): string {
  const json = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
}

describe('pipelined requests', () => {
  it('are processed one after the other', async () => {
    const account = { email: 'pipelined@example.com', password: 'kue lapis' };
    const register = { ...account, fullname: 'Ayu', passwordConfirmation: account.password };
    // The login would find no account if it were processed at the same time as the registration.
    const requests = [
      buildPost('/api/register', register),
      buildPost('/api/login', account),
      `GET /api/users HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    ];
    const responses = await sendRaw(service.url, requests.join(''));
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 401]);
  });

  it('make the service close the connection if more than 20 of them wait for a response', async () => {
    const requests = Array.from({ length: 600 }, () => `GET /api/docs-json HTTP/1.1\r\n${HOST}\r\n`);
    const responses = await sendRaw(service.url, requests.join(''));
    expect(responses.length).toBeGreaterThan(0);
    expect(responses.length).toBeLessThanOrEqual(20);
  });
});

it('a malformed request that arrives during a response does not add a failure to the body of the response', async () => {
  const socket = openSocket(service.url);
  const closed = once(socket, 'close');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(`GET ${imagePath} HTTP/1.1\r\n${HOST}\r\n`);
  do {
    await once(socket, 'data');
  } while (!/\r\n\r\n[^]/.test(Buffer.concat(chunks).toString('latin1'))); // The first chunk may contain only headers.
  socket.pause();
  const rejected = once(server, 'clientError');
  socket.write('rubbish\r\n\r\n');
  await rejected;
  socket.resume();
  await closed;
  const received = Buffer.concat(chunks);
  const bodyStart = received.indexOf('\r\n\r\n') + 4;
  const body = received.subarray(bodyStart, bodyStart + 5 * MIB);
  expect(body.length).toBeGreaterThan(0);
  expect(body.includes('HTTP/1.1')).toBe(false);
});

describe('a client that pipelines requests for images', () => {
  const requests = `GET ${imagePath} HTTP/1.1\r\n${HOST}\r\n`.repeat(PIPELINED_IMAGES);
  const countConnections = () => promisify(server.getConnections.bind(server))();

  /** Opens a connection that sends the requests and reads the responses 64 bytes at a time, with a pause after each read. */
  function openSlowReader(): Socket {
    const callback = (): boolean => {
      setTimeout(() => socket.resume(), 200).unref();
      return false;
    };
    // `onread` limits what is read from the operating system at a time.
    const socket: Socket = openSocket(service.url, { onread: { buffer: Buffer.alloc(64), callback } });
    socket.write(requests);
    return socket;
  }

  it('is disconnected if it reads less than the minimum rate', async () => {
    const before = await countConnections();
    const sockets = Array.from({ length: 20 }, openSlowReader);
    try {
      await until('the connections are open', async () => (await countConnections()) >= before + 20);
      await until('the connections are closed', async () => (await countConnections()) <= before);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  // Only Linux tells how much of a response the client has received. On other systems, its buffers must empty within a window.
  const slowMs = process.platform === 'linux' ? 4 * WINDOW_MS : 0;

  it('gets complete responses if it reads slowly but steadily', async () => {
    const socket = openSocket(service.url);
    socket.write(requests);
    let received = 0;
    let pauseAt = 0;
    const start = performance.now();
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received < pauseAt) return;
      const isSlow = performance.now() - start < slowMs;
      pauseAt += isSlow ? SLOW_READ_BYTES : READ_BYTES;
      socket.pause();
      void delay(isSlow ? SLOW_PAUSE_MS : READ_PAUSE_MS).then(() => socket.resume());
    });
    await once(socket, 'end');
    expect(received).toBeGreaterThan(PIPELINED_IMAGES * 5 * MIB);
    expect(performance.now() - start).toBeGreaterThan(slowMs + WINDOW_MS);
  });
});
