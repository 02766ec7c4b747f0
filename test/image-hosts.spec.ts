import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CloudinaryImageHost } from '../src/images/cloudinary.image-host.js';
import { ImageHostError, type ImageFile } from '../src/images/image-host.js';
import { LocalImageHost } from '../src/images/local.image-host.js';
import {
  type CloudinaryFault,
  type CloudinaryOperation,
  CloudinaryStandIn,
} from './support/cloudinary-stand-in.js';
import { jpeg, padded, png } from './support/pictures.js';

function imageFile(bytes: Buffer, format: ImageFile['format'] = 'png'): ImageFile {
  return { bytes, format };
}

const SECRET = 'thisIsTheApiSecret';
const DEADLINE_MS = 300;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('Cloudinary image host', () => {
  let standIn: CloudinaryStandIn;
  let host: CloudinaryImageHost;

  beforeEach(async () => {
    standIn = await CloudinaryStandIn.start({ apiSecret: SECRET });
    standIn.dripIntervalMs = 20;
    // Generous where a test does not wait for it: the machine may be busy.
    host = new CloudinaryImageHost({ cloudinaryUrl: standIn.url, deadlineMs: 10_000 });
  });

  afterEach(async () => {
    await standIn.close();
  });

  function impatientHost(): CloudinaryImageHost {
    return new CloudinaryImageHost({ cloudinaryUrl: standIn.url, deadlineMs: DEADLINE_MS });
  }

  /** The error of a call that fails; it must hold neither secret nor signature. */
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
    return operation === 'upload' ? target.upload(id, imageFile(png(id))) : target.remove(id);
  }

  it('stores the bytes under the given id, signed and never overwriting, and answers the https URL', async () => {
    const id = randomUUID();
    const url = await host.upload(id, imageFile(jpeg(id), 'jpg'));
    expect(url).toMatch(new RegExp(`^https://res\\.cloudinary\\.com/bakery/image/upload/v\\d+/${id}\\.jpg$`));
    expect(standIn.imageAt(url)?.bytes).toEqual(jpeg(id));
    expect(standIn.requests).toEqual([
      expect.objectContaining({ operation: 'upload', publicId: id, overwrite: false, signatureValid: true }),
    ]);
  });

  it('stores an image of 5 MiB byte for byte', async () => {
    const bytes = padded(png('large'), 5 * 1024 * 1024);
    const url = await host.upload(randomUUID(), imageFile(bytes));
    expect(standIn.imageAt(url)?.bytes.equals(bytes)).toBe(true);
  });

  it('signs with SHA-256 where CLOUDINARY_URL says so', async () => {
    const sha256 = new CloudinaryImageHost({ cloudinaryUrl: `${standIn.url}&signature_algorithm=sha256` });
    await sha256.upload(randomUUID(), imageFile(png()));
    expect(standIn.requests.at(-1)?.signatureValid).toBe(true);
  });

  it.each<CloudinaryOperation>(['upload', 'destroy'])(
    'fails the request %s signed with a wrong secret and repeats neither secret nor signature',
    async (operation) => {
      const wrong = new CloudinaryImageHost({ cloudinaryUrl: standIn.url.replace(SECRET, 'aWrongSecret') });
      const error = await failureOf(run(wrong, operation, randomUUID()));
      expect(error.httpCode).toBe(401);
      expect(error.message).toMatch(/^image host: (upload|remove) failed: the host answered 401$/);
      expect(standIn.requests.at(-1)?.signatureValid).toBe(false);
      expect(standIn.images.size).toBe(0);
    },
  );

  it('removes an image and has the copies at the edge invalidated', async () => {
    const id = randomUUID();
    await host.upload(id, imageFile(png(id)));
    await host.remove(id);
    expect(standIn.images.size).toBe(0);
    expect(standIn.requests.at(-1)).toMatchObject({
      operation: 'destroy',
      publicId: id,
      invalidate: true,
      signatureValid: true,
    });
  });

  it('takes the removal of an image that is not there as success', async () => {
    await expect(host.remove(randomUUID())).resolves.toBeUndefined();
    expect(standIn.requests.at(-1)?.status).toBe(200);
  });

  it.each(['{"result":"error"}', '{}', 'null', '[]', '7', ''])(
    'fails a removal that is answered 200 with %p',
    async (body) => {
      standIn.fault({ operation: 'destroy', kind: 'answer', status: 200, body });
      await failureOf(host.remove(randomUUID()));
    },
  );

  it.each([302, 400, 404, 420, 429, 500, 502, 503])('fails when the host answers %d', async (status) => {
    standIn.fault({ operation: 'upload', kind: 'answer', status, body: '{"error":{"message":"no"}}' });
    const error = await failureOf(run(host, 'upload', randomUUID()));
    expect(error.httpCode).toBe(status);
  });

  it.each([
    ['no URL', undefined],
    ['a number', 7],
    ['an empty URL', ''],
    ['a relative URL', '/image.png'],
    ['a script', 'javascript:alert(1)'],
    ['another protocol', 'ftp://res.cloudinary.com/a.png'],
    ['a space', 'https://res.cloudinary.com/a b.png'],
  ])('fails an upload that is answered with %s for a URL', async (_what, url) => {
    const id = randomUUID();
    const body = JSON.stringify({ public_id: id, secure_url: url });
    standIn.fault({ operation: 'upload', kind: 'answer', status: 200, body });
    const error = await failureOf(run(host, 'upload', id));
    expect(error.reason).toBe('the answer holds no usable URL');
  });

  it('fails an upload that the host stored under another id', async () => {
    const body = JSON.stringify({ public_id: 'elsewhere', secure_url: 'https://res.cloudinary.com/a.png' });
    standIn.fault({ operation: 'upload', kind: 'answer', status: 200, body });
    const error = await failureOf(run(host, 'upload', randomUUID()));
    expect(error.reason).toBe('the answer names another public id');
  });

  describe.each<CloudinaryOperation>(['upload', 'destroy'])(
    'when the request %s meets trouble',
    (operation) => {
      it.each<CloudinaryFault['kind'] & ('hang' | 'hang-after-accepting' | 'drip')>([
        'hang',
        'hang-after-accepting',
        'drip',
      ])('%s: fails at the deadline and closes the connection', async (kind) => {
        const impatient = impatientHost();
        standIn.fault({ operation, kind });
        const startedAt = performance.now();
        const error = await failureOf(run(impatient, operation, randomUUID()));
        const elapsedMs = performance.now() - startedAt;
        expect(error.reason).toBe(`no complete answer within ${DEADLINE_MS} ms`);
        expect(elapsedMs).toBeGreaterThan(DEADLINE_MS - 10);
        expect(elapsedMs).toBeLessThan(DEADLINE_MS + 2_000);
        await until(() => standIn.openConnections === 0);
      });

      it.each<CloudinaryFault['kind'] & ('error' | 'cut' | 'cut-after-accepting' | 'garbage')>([
        'error',
        'cut',
        'cut-after-accepting',
        'garbage',
      ])('%s: fails at once and serves the next call', async (kind) => {
        standIn.fault({ operation, nth: 1, kind });
        await failureOf(run(host, operation, randomUUID()));
        await run(host, operation, randomUUID());
        expect(standIn.requests.map(({ fault }) => fault)).toEqual([kind, null]);
      });

      it('fails while the host is down and works when it is back', async () => {
        await standIn.down();
        const error = await failureOf(run(host, operation, randomUUID()));
        expect(error.reason).toBe('connection failed (ECONNREFUSED)');
        await standIn.up();
        await run(host, operation, randomUUID());
      });
    },
  );

  it('can remove by its id an image whose upload was never confirmed', async () => {
    const id = randomUUID();
    standIn.fault({ operation: 'upload', kind: 'cut-after-accepting' });
    await failureOf(run(host, 'upload', id));
    expect([...standIn.images.keys()]).toEqual([id]);
    await host.remove(id);
    expect(standIn.images.size).toBe(0);
  });

  it('uploads five images side by side, and one that hangs fails alone', async () => {
    const impatient = new CloudinaryImageHost({ cloudinaryUrl: standIn.url, deadlineMs: 2_000 });
    standIn.delayMs = 200;
    standIn.fault({ operation: 'upload', nth: 3, kind: 'hang' });
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const outcomes = await Promise.allSettled(ids.map((id) => run(impatient, 'upload', id)));
    const hanging = standIn.requests[2]?.publicId;
    expect(outcomes.map(({ status }) => status)).toEqual(
      ids.map((id) => (id === hanging ? 'rejected' : 'fulfilled')),
    );
    expect(standIn.maxConcurrentUploads).toBe(5);
    expect(standIn.images.size).toBe(4);
  });

  it('serves two accounts in one process', async () => {
    const other = await CloudinaryStandIn.start({
      cloudName: 'other',
      apiKey: '1',
      apiSecret: 'otherSecret',
    });
    const otherHost = new CloudinaryImageHost({ cloudinaryUrl: other.url });
    const [id, otherId] = [randomUUID(), randomUUID()];
    await Promise.all([run(host, 'upload', id), run(otherHost, 'upload', otherId)]);
    expect([...standIn.images.keys()]).toEqual([id]);
    expect([...other.images.keys()]).toEqual([otherId]);
    await other.close();
  });

  it.each([
    '',
    SECRET,
    `https://key:${SECRET}@bakery`,
    `cloudinary://key:${SECRET}@`,
    `cloudinary://:${SECRET}@bakery`,
    `cloudinary://${SECRET}@bakery`,
    `cloudinary://key:${SECRET}%@bakery`,
    `cloudinary://key:${SECRET}@bakery:80`,
    `cloudinary://key:${SECRET}@ba kery`,
    `cloudinary://key:${SECRET}@bakery?upload_prefix=ftp://127.0.0.1`,
    `cloudinary://key:${SECRET}@bakery?upload_prefix=http://`,
    `cloudinary://key:${SECRET}@bakery?signature_algorithm=md5`,
  ])('refuses the malformed CLOUDINARY_URL %p without repeating it', (cloudinaryUrl) => {
    let error: unknown;
    try {
      new CloudinaryImageHost({ cloudinaryUrl });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ message: expect.stringMatching(/^CLOUDINARY_URL must be /) as string });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET);
  });
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

  afterEach(async () => {
    await rm(parent, { recursive: true });
  });

  /** Every file below the parent folder, relative to the folder of images. */
  async function files(): Promise<string[]> {
    const entries = await readdir(parent, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .sort();
  }

  it.each([
    ['png', 'image/png', png('local')],
    ['jpg', 'image/jpeg', jpeg('local')],
  ] as const)('stores a %s, answers its name and opens it as %s', async (format, contentType, bytes) => {
    const id = randomUUID();
    expect(await host.upload(id, imageFile(bytes, format))).toBe(`${id}.${format}`);
    expect(await files()).toEqual([`${id.slice(0, 2)}/${id}.${format}`]);
    const image = await host.open(`${id}.${format}`);
    expect(image?.contentType).toBe(contentType);
    expect(await readFile(image?.path ?? '')).toEqual(bytes);
  });

  it('stores an image in a folder that was removed since the last one', async () => {
    const [first, second] = [randomUUID(), randomUUID()].map((id) => `00${id.slice(2)}`);
    await host.upload(first ?? '', imageFile(png()));
    await rm(directory, { recursive: true });
    await host.upload(second ?? '', imageFile(png()));
    expect(await host.open(`${second}.png`)).not.toBeNull();
    expect(await host.open(`${first}.png`)).toBeNull();
  });

  it('removes an image of either format, and again', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await host.upload(first, imageFile(png()));
    await host.upload(second, imageFile(jpeg(), 'jpg'));
    for (const id of [first, second, first, randomUUID()]) await host.remove(id);
    expect(await files()).toEqual([]);
    expect(await host.open(`${first}.png`)).toBeNull();
  });

  it('leaves nothing behind when a write fails', async () => {
    const id = randomUUID();
    await mkdir(join(directory, id.slice(0, 2), `${id}.png`), { recursive: true });
    await expect(host.upload(id, imageFile(png()))).rejects.toThrow(/EISDIR|ENOTEMPTY/);
    expect(await files()).toEqual([]);
  });

  it('removes by its id what a crash in the middle of an upload left', async () => {
    const id = randomUUID();
    await mkdir(join(directory, id.slice(0, 2)), { recursive: true });
    await writeFile(join(directory, id.slice(0, 2), `${id}.tmp`), 'half an ima');
    expect(await host.open(`${id}.tmp`)).toBeNull();
    await host.remove(id);
    expect(await files()).toEqual([]);
  });

  it.each(['', '..', '../../../etc/passwd', `${ID}/`, `../${ID.slice(3)}`, 'A'.repeat(36)])(
    'refuses the id %p',
    async (id) => {
      await expect(host.upload(id, imageFile(png()))).rejects.toThrow(TypeError);
      await expect(host.remove(id)).rejects.toThrow(TypeError);
      expect(await files()).toEqual([]);
    },
  );

  it('opens nothing but a stored image by its exact name', async () => {
    const id = randomUUID();
    await host.upload(id, imageFile(png()));
    await writeFile(join(parent, 'secret.png'), 'secret');
    const folder = join(directory, id.slice(0, 2));
    const linked = id.slice(0, 2) + randomUUID().slice(2);
    await symlink(join(parent, 'secret.png'), join(folder, `${linked}.png`));
    const folderName = id.slice(0, 2) + randomUUID().slice(2);
    await mkdir(join(folder, `${folderName}.png`));
    const names = [
      ...['', '.', '..', '../secret.png', '../../secret.png', id, `${id}.jpg`, `${id}.svg`, `${id}.PNG`],
      ...[
        `${id}.png `,
        `${id}.png\n`,
        `${id}.png\0`,
        `${id}.png/`,
        `./${id}.png`,
        `${id.slice(0, 2)}/${id}.png`,
      ],
      ...[`${randomUUID()}.png`, `${linked}.png`, `${folderName}.png`, '%2e%2e%2fsecret.png'],
    ];
    for (const name of names) expect([name, await host.open(name)]).toEqual([name, null]);
    expect(await host.open(`${id}.png`)).not.toBeNull();
  });
});

async function until(condition: () => boolean, deadlineMs = 5_000): Promise<void> {
  const giveUpAt = Date.now() + deadlineMs;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`not so within ${deadlineMs} ms: ${condition.toString()}`);
    await delay(5);
  }
}
