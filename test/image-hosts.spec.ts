import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudinaryImageHost } from '../src/images/cloudinary.image-host.js';
import { ImageHostError } from '../src/images/image-host.js';
import { LocalImageHost } from '../src/images/local.image-host.js';
import { type CloudinaryOperation, CloudinaryStandIn } from './support/cloudinary-stand-in.js';
import { png } from './support/pictures.js';
import { until } from './support/wait.js';

const SECRET = 'thisIsTheApiSecret';
const DEADLINE_MS = 300;

describe('Cloudinary image host', () => {
  let standIn: CloudinaryStandIn;
  let host: CloudinaryImageHost;

  beforeEach(async () => {
    standIn = await CloudinaryStandIn.start({ apiSecret: SECRET });
    standIn.dripIntervalMs = 20;
    // Long for tests that do not wait for the deadline, because the machine may be busy.
    host = new CloudinaryImageHost(standIn.url, 10_000);
  });

  afterEach(() => standIn.close());

  /** Returns the error of a failed call and checks that it contains neither a secret nor a signature. */
  async function failureOf(call: Promise<unknown>): Promise<ImageHostError> {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ImageHostError))
      throw new Error(`expected an ImageHostError, got ${String(error)}`);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(
      /thisIsTheApiSecret|aWrongSecret|[0-9a-f]{40}/,
    );
    expect(error.cause).toBeUndefined();
    return error;
  }

  function run(target: CloudinaryImageHost, operation: CloudinaryOperation, id: string): Promise<unknown> {
    return operation === 'upload' ? target.upload(id, { bytes: png(id), format: 'png' }) : target.remove(id);
  }

  it.each<CloudinaryOperation>(['upload', 'destroy'])(
    'fails the request %s with a wrong secret and reveals neither secret nor signature',
    async (operation) => {
      const wrong = new CloudinaryImageHost(standIn.url.replace(SECRET, 'aWrongSecret'));
      const error = await failureOf(run(wrong, operation, randomUUID()));
      expect(error.httpCode).toBe(401);
      expect(error.message).toMatch(/^image host: (upload|remove) failed: the host responded with 401$/);
      expect(standIn.calls.at(-1)?.signatureValid).toBe(false);
      expect(standIn.images.size).toBe(0);
    },
  );

  it.each(['{"result":"error"}', 'null', ''])(
    'fails a removal that gets 200 with the body %p',
    async (body) => {
      standIn.fault({ operation: 'destroy', kind: 'answer', status: 200, body });
      await failureOf(host.remove(randomUUID()));
    },
  );

  it.each([
    ['no URL', undefined],
    ['a script', 'javascript:alert(1)'],
  ])('fails an upload whose response contains %s instead of a URL', async (_what, url) => {
    const id = randomUUID();
    const body = JSON.stringify({ public_id: id, secure_url: url });
    standIn.fault({ operation: 'upload', kind: 'answer', status: 200, body });
    const error = await failureOf(run(host, 'upload', id));
    expect(error.reason).toBe('the response contains no usable URL');
  });

  it.each([
    ['upload', 'hang'],
    ['upload', 'drip'],
    ['destroy', 'hang'],
    ['destroy', 'drip'],
  ] as const)(
    'fails the request %s at the deadline and closes its connection: %s',
    async (operation, kind) => {
      const impatient = new CloudinaryImageHost(standIn.url, DEADLINE_MS);
      standIn.fault({ operation, kind });
      const startedAt = performance.now();
      const error = await failureOf(run(impatient, operation, randomUUID()));
      const elapsedMs = performance.now() - startedAt;
      expect(error.reason).toBe(`no complete response within ${DEADLINE_MS} ms`);
      expect(elapsedMs).toBeGreaterThan(DEADLINE_MS - 10);
      expect(elapsedMs).toBeLessThan(DEADLINE_MS + 2_000);
      await until('the connection is closed', () => standIn.openConnections === 0);
    },
  );
});

describe('local image host', () => {
  let parent: string;
  let directory: string;
  let host: LocalImageHost;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'image-hosts-'));
    directory = join(parent, 'data', 'images');
    host = new LocalImageHost(directory);
  });

  afterEach(() => rm(parent, { recursive: true }));

  /** Every file below the parent folder, relative to the folder of images. */
  async function files(): Promise<string[]> {
    const entries = await readdir(parent, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .sort();
  }

  it.each(['png', 'tmp'])(
    'removes an incomplete .%s file of a crashed upload by the id of the image',
    async (ending) => {
      const id = randomUUID();
      await mkdir(join(directory, id.slice(0, 2)), { recursive: true });
      await writeFile(join(directory, id.slice(0, 2), `${id}.${ending}`), 'half an ima');
      await host.remove(id);
      expect(await files()).toEqual([]);
    },
  );
});
