import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudinaryImageHost } from '../src/images/cloudinary.image-host.js';
import { ImageHostError } from '../src/images/image-host.js';
import { LocalImageHost } from '../src/images/local.image-host.js';
import { type CloudinaryOperation, CloudinaryStandIn } from './support/cloudinary-stand-in.js';
import { measureRunning } from './support/measure.js';
import { createPng } from './support/pictures.js';
import { useFolder } from './support/process.js';
import { until } from './support/wait.js';

const SECRET = 'thisIsTheApiSecret';
const WRONG_SECRET = 'wrongSecret';
const DEADLINE_MS = 300;
const ID = randomUUID();

describe('the Cloudinary image host', () => {
  let standIn: CloudinaryStandIn;
  let host: CloudinaryImageHost;

  beforeEach(async () => {
    standIn = await CloudinaryStandIn.start({ apiSecret: SECRET });
    host = new CloudinaryImageHost(standIn.url);
  });

  /** Makes a call that must fail. Returns its error, which must contain neither a secret nor a signature. */
  async function catchFailure(target: CloudinaryImageHost, operation: CloudinaryOperation) {
    const call =
      operation === 'upload' ? target.upload(ID, { bytes: createPng(ID), format: 'png' }) : target.remove(ID);
    const error: unknown = await call.catch((reason: unknown) => reason);
    if (!(error instanceof ImageHostError)) throw new Error(`not an ImageHostError: ${String(error)}`);
    const text = JSON.stringify(error, Object.getOwnPropertyNames(error));
    const signature = /[0-9a-f]{40}/;
    for (const forbidden of [SECRET, WRONG_SECRET, signature]) expect(text).not.toMatch(forbidden);
    expect(error.cause).toBeUndefined();
    return error;
  }

  it('signs an upload and asks Cloudinary to overwrite nothing', async () => {
    await host.upload(ID, { bytes: createPng(ID), format: 'png' });
    expect(standIn.calls).toMatchObject([{ hasValidSignature: true, parameters: { overwrite: '0' } }]);
  });

  it.each<CloudinaryOperation>(['upload', 'destroy'])(
    'fails the operation "%s" with a wrong secret and reveals neither secret nor signature',
    async (operation) => {
      const hostWithWrongSecret = new CloudinaryImageHost(standIn.url.replace(SECRET, WRONG_SECRET));
      const error = await catchFailure(hostWithWrongSecret, operation);
      expect(error.httpCode).toBe(401);
      expect(error.message).toMatch(/^image host: (upload|remove) failed: the host responded with 401$/);
    },
  );

  it.each(['{"result":"error"}', 'null', ''])(
    'fails a removal whose response is 200 with the body "%s"',
    async (body) => {
      standIn.addFault({ operation: 'destroy', kind: 'response', status: 200, body });
      await catchFailure(host, 'destroy');
    },
  );

  it.each([
    [{ public_id: ID, secure_url: 'javascript:alert(1)' }, 'the response contains no usable URL'],
    [{ public_id: 'another', secure_url: 'https://a.example/1.png' }, 'the response names another public id'],
  ])('fails an upload whose response is %j', async (body, reason) => {
    standIn.addFault({ operation: 'upload', kind: 'response', status: 200, body });
    expect((await catchFailure(host, 'upload')).message).toBe(`image host: upload failed: ${reason}`);
  });

  it.each([
    ['upload', 'does not arrive', 10_000, 'hang', undefined],
    ['upload', 'does not arrive', DEADLINE_MS, 'hang', DEADLINE_MS],
    ['destroy', 'arrives byte by byte', DEADLINE_MS, 'drip', DEADLINE_MS],
  ] as const)(
    'fails the operation "%s" and closes its connection if the response %s within %i ms',
    async (operation, _response, expectedMs, kind, deadlineMs) => {
      standIn.addFault({ operation, kind });
      const { result: error, runningMs } = await measureRunning(() =>
        catchFailure(new CloudinaryImageHost(standIn.url, deadlineMs), operation),
      );
      expect(runningMs).toBeLessThan(expectedMs + 2_000);
      expect(error.message).toMatch(`failed: no complete response within ${expectedMs} ms`);
      await until('the connection is closed', () => standIn.openConnections === 0);
    },
  );
});

const root = await useFolder('image-hosts-');

it.each([
  ['upload', `${ID}.png`],
  ['creation of a smaller version', `${ID}-480.png.${randomUUID()}.tmp`],
])(
  'the local image host removes the incomplete file of a crashed %s by the id of the image',
  async (_what, name) => {
    const folder = join(root, ID.slice(0, 2));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), 'half an ima');
    await new LocalImageHost(root).remove(ID);
    expect(await readdir(folder)).toEqual([]);
  },
);
