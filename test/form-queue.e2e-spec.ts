import { connect, type Socket } from 'node:net';
import { importBuilt } from './support/built.js';
import { buildFailure, MESSAGES } from './support/failure.js';
import { noisyPng } from './support/pictures.js';
import { CAKE, createProduct, pictures } from './support/products.js';
import { sendRaw } from './support/raw-http.js';
import { useAdmin, useService } from './support/service.js';
import { FORM_TYPE, buildFormPieces, upload } from './support/upload-load.js';

const RESPONSE_DEADLINE_MS = 30_000;

const service = useService();
const admin = useAdmin(service);
let interceptor: { idleMs: number };

beforeAll(async () => {
  const { FormInterceptor } = await importBuilt('src/images/form.interceptor.js');
  interceptor = service.app.get(FormInterceptor);
});

afterEach(() => {
  interceptor.idleMs = 15_000;
});

/** Builds the headers and the first bytes of a form of 25 MiB. The queue admits no other form beside one of this size. */
function buildFormStart(): string {
  const cookie = `accessToken=${admin.cookie('accessToken')}`;
  return (
    `POST /api/products HTTP/1.1\r\nHost: bakery.test\r\nContent-Length: ${25 * 1024 * 1024}\r\n` +
    `Cookie: ${cookie}\r\nContent-Type: ${FORM_TYPE}\r\n\r\n` +
    buildFormPieces({}, [Buffer.alloc(0)])[0]?.toString()
  );
}

it('a form waits while stalled forms fill the queue, and is processed once their clients disconnect at the same moment', async () => {
  // A bug in this race may show only in some rounds.
  for (let round = 0; round < 5; round += 1) {
    // The queue admits one of these forms. The others wait, like the form that is complete.
    const stalled = Array.from({ length: 8 }, (): Socket =>
      connect(Number(new URL(service.url).port), '127.0.0.1'),
    );
    await Promise.all(stalled.map((socket) => new Promise((sent) => socket.write(buildFormStart(), sent))));
    let isAnswered = false;
    const created = createProduct(admin, pictures(1)).finally(() => (isAnswered = true));
    await service.client().get('/api/health/live').expect(200); // Time in which the form could be processed.
    expect(isAnswered).toBe(false);
    for (const socket of stalled) socket.destroy();
    expect((await created).images).toHaveLength(1);
  }
});

it('a form whose client sends nothing for 15 seconds is rejected with 408, and the next form is processed', async () => {
  expect(interceptor.idleMs).toBe(15_000);
  // Shortens the test, but is long enough for the complete form on a busy machine.
  interceptor.idleMs = 1_500;
  const stalled = [1, 2].map(() => sendRaw(service.url, buildFormStart(), RESPONSE_DEADLINE_MS));
  const created = createProduct(admin, pictures(1));
  for (const [response] of await Promise.all(stalled)) {
    expect(response?.headers.connection).toBe('close');
    expect(JSON.parse(response?.body ?? '')).toEqual(buildFailure(408, MESSAGES.tooSlow));
  }
  expect((await created).images).toHaveLength(1);
});

it('a form that is sent slowly but steadily is accepted', async () => {
  interceptor.idleMs = 3_000;
  const start = performance.now();
  const pieces = buildFormPieces(CAKE, [noisyPng(1_000), noisyPng(1_000)]);
  expect(await upload(admin, pieces, { pauseMs: 300 })).toBe(201);
  expect(performance.now() - start).toBeGreaterThan(interceptor.idleMs);
});
