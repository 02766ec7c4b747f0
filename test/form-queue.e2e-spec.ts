import { once } from 'node:events';
import { importBuilt } from './support/built.js';
import { buildFailure, MESSAGES } from './support/failure.js';
import { readMetric } from './support/metrics.js';
import { createNoisyPng } from './support/pictures.js';
import { CAKE, createPictures, createProduct } from './support/products.js';
import { openSocket, sendRaw } from './support/raw-http.js';
import { useService } from './support/service.js';
import { FORM_TYPE, buildFormPieces, upload } from './support/upload-load.js';
import { until } from './support/wait.js';

const MIB = 1024 * 1024;
const ORIGIN = 'http://localhost:5173';

/** Shortens the tests, but is longer than a pause of a busy machine in the middle of a form. */
const IDLE_MS = 4_000;

const service = await useService({ formIdleMs: IDLE_MS });
const admin = await service.admin();
const { FormInterceptor } = await importBuilt('src/images/form.interceptor.js');

/** Builds the headers of a request of the storefront. */
function buildHead(path: string, type: string, length: number): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: bakery.test\r\nOrigin: ${ORIGIN}\r\n` +
    `Cookie: accessToken=${admin.cookie('accessToken')}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
  );
}

/** Builds the headers and the first bytes of a form of 25 MiB. The queue admits no other form beside one of this size. */
function buildFormStart(): string {
  const [firstPiece] = buildFormPieces({}, [Buffer.alloc(0)]);
  return buildHead('/api/products', FORM_TYPE, 25 * MIB) + firstPiece?.toString();
}

/** Counts the forms that enter the queue from now on. */
function countQueuedForms(): { count: number } {
  const { queue } = service.app.get(FormInterceptor);
  const run = queue.run.bind(queue);
  const queued = { count: 0 };
  queue.run = (task, options) => {
    queued.count += 1;
    return run(task, options);
  };
  return queued;
}

it('a form is processed once the clients of the stalled forms before it disconnect at the same moment', async () => {
  const queued = countQueuedForms();
  // A bug in this race may show only in some rounds.
  for (let round = 0; round < 5; round += 1) {
    queued.count = 0;
    // The queue admits one of these forms. The others wait, like the form that is complete.
    const stalled = Array.from({ length: 8 }, () => openSocket(service.url));
    for (const socket of stalled) socket.write(buildFormStart());
    await until('the stalled forms are in the queue', () => queued.count === stalled.length);
    const created = createProduct(admin, createPictures(1));
    await until('the complete form is in the queue, too', () => queued.count === stalled.length + 1);
    for (const socket of stalled) socket.destroy();
    expect((await created).images).toHaveLength(1);
  }
});

it.each([
  ['JSON', '/api/login', 'application/json', 200_000, 0],
  ['a form', '/api/products', FORM_TYPE, 30 * MIB, 1],
])(
  '%s with a Content-Length above the limit is rejected with 413 before its body is sent, and counted as an upload if it is a form',
  async (_, path, type, length, counted) => {
    const countTooLarge = () => readMetric('bakery_uploads_total', { outcome: 'too_large' });
    const before = await countTooLarge();
    const socket = openSocket(service.url);
    socket.write(buildHead(path, type, length));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(chunk.toString()).toMatch(
      /^HTTP\/1\.1 413 .*access-control-allow-origin: http:\/\/localhost:5173/is,
    );
    expect(await countTooLarge()).toBe(before + counted);
  },
);

it('a form whose client is idle is rejected with 408, which pages can read, and the next form is processed', async () => {
  const queued = countQueuedForms();
  const stalled = [1, 2].map(() => sendRaw(service.url, buildFormStart()));
  await until('the stalled forms are in the queue', () => queued.count === stalled.length);
  const created = createProduct(admin, createPictures(1));
  for (const [response] of await Promise.all(stalled)) {
    expect(response?.headers).toMatchObject({ connection: 'close', 'access-control-allow-origin': ORIGIN });
    expect(JSON.parse(response?.body ?? '')).toEqual(buildFailure(408, MESSAGES.requestTimeout));
  }
  expect((await created).images).toHaveLength(1);
});

it('a form that is sent slowly but steadily is accepted', async () => {
  const start = performance.now();
  const pieces = buildFormPieces(CAKE, [createNoisyPng(1_000), createNoisyPng(1_000)]);
  expect(await upload(admin, pieces, { pauseMs: IDLE_MS / 8 })).toBe(201);
  expect(performance.now() - start).toBeGreaterThan(IDLE_MS);
});
