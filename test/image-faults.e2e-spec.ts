import type { Response } from 'supertest';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CloudinaryStandIn } from './support/cloudinary-stand-in.js';
import { beginTransaction, createDatabase, waitForLock } from './support/databases.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { addJob, changeJobs, deleteJobs, readJobs, waitForFailedJob } from './support/jobs.js';
import { createPng } from './support/pictures.js';
import {
  BREAD,
  CAKE,
  countProducts,
  createPictures,
  createProduct,
  letTimePassForImagesAndJobs,
  readLedger,
  readProduct,
  sendForm,
} from './support/products.js';
import { useService } from './support/service.js';
import { createDeferred, inParallel, sortedStatusesOf, until } from './support/wait.js';

const FAULTS = ['error', 'disconnect', 'response-lost', 'garbage'] as const;
const CREATION_FAILED = 'fail to create product and this is not your fault, please try again later';

const standIn = await CloudinaryStandIn.start();
const settings = { CLOUDINARY_URL: standIn.url };
const service = await useService({ settings });
const admin = await service.admin();

beforeEach(async () => {
  await service.database.query('TRUNCATE products, images');
  await deleteJobs(service.database.pool, '%');
  standIn.reset();
});

/** Lets time pass and waits until the host and the ledger contain exactly the images at these URLs. */
async function expectOnlyImages(urls: readonly string[], database = service.database): Promise<void> {
  await until('the host and the ledger contain the images of the catalog', async () => {
    await letTimePassForImagesAndJobs(database);
    return standIn.images.size === urls.length && (await readLedger(database)).length === urls.length;
  });
  expect(urls.filter((url) => standIn.imageAt(url) === undefined)).toEqual([]);
  expect((await readLedger(database)).filter(({ state }) => state !== 'attached')).toEqual([]);
}

/** Stores staged images in the ledger and at the host, as if the process had died before it attached them. */
async function insertStaged({ count = 1, ageSeconds = 0, database = service.database }): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await database.query(
    `INSERT INTO images (id, host, state, staged_at)
     SELECT id, 'cloudinary', 'staged', now() - make_interval(secs => $2) FROM unnest($1::uuid[]) AS id`,
    [ids, ageSeconds],
  );
  for (const id of ids) standIn.images.set(id, { bytes: createPng(id), format: 'png' });
  return ids;
}

it('the images of a product are uploaded in parallel and keep the order of the files', async () => {
  // The host responds when it has received all five images.
  standIn.beforeResponse = () => until('five uploads run', () => standIn.listCalls('upload').length === 5);
  const files = createPictures(5);
  const { images } = await createProduct(admin, files);
  expect(images.map((url) => standIn.imageAt(url)?.bytes)).toEqual(files.map(({ bytes }) => bytes));
  await expectOnlyImages(images);
});

it.each(FAULTS)(
  'a creation with a failed upload (%s) of any of its 5 images leaves neither a product nor an image',
  async (kind) => {
    for (const nth of [1, 2, 3, 4, 5]) {
      standIn.clearFaults();
      standIn.addFault({ operation: 'upload', kind, nth });
      expectFailure(
        await sendForm(admin.post('/api/products'), CAKE, createPictures(5)),
        500,
        CREATION_FAILED,
      );
    }
    expect(standIn.calls.filter(({ fault }) => fault === kind)).toHaveLength(5);
    expect(await countProducts(service.database)).toBe(0);
    await expectOnlyImages([]);
  },
);

it('an update with a failed upload changes neither the product nor its images', async () => {
  const before = await createProduct(admin, createPictures(2));
  const fields = { ...BREAD, 'images.removed[]': before.images[0] ?? '' };
  for (const kind of FAULTS) {
    standIn.clearFaults();
    standIn.addFault({ operation: 'upload', kind, nth: 2 });
    expectFailure(
      await sendForm(admin.put(`/api/products/${before.id}`), fields, createPictures(3)),
      500,
      MESSAGES.unexpected,
    );
  }
  expect(await readProduct(admin, before.id)).toEqual(before);
  await expectOnlyImages(before.images);
});

it('a product is deleted with 204 while the host is down, and its images are removed once the host is available', async () => {
  const other = await createProduct(admin, createPictures(1));
  const { id } = await createProduct(admin, createPictures(3));
  await standIn.down();
  try {
    await admin.delete(`/api/products/${id}`).expect(204);
    expectFailure(await admin.get(`/api/products/${id}`), 404, MESSAGES.notFound);
    await waitForFailedJob(service.database.pool, 'remove-image');
    // Even 1,000 failed attempts must not end the retries. Otherwise the images would stay at the host forever.
    await changeJobs(service.database.pool, '%', { attempts: 1_000 });
  } finally {
    await standIn.up();
  }
  await expectOnlyImages(other.images);
});

it.each(FAULTS)('a failed removal (%s) is retried, and removals clear the cache of the CDN', async (kind) => {
  const { id } = await createProduct(admin, createPictures(2));
  standIn.addFault({ operation: 'destroy', kind, nth: 1 });
  await admin.delete(`/api/products/${id}`).expect(204);
  await expectOnlyImages([]);
  const removals = standIn.listCalls('destroy');
  expect(removals.length).toBeGreaterThanOrEqual(3); // Two images and at least one retry.
  // The stand-in reads no parameters of a call with the fault `disconnect`.
  const read = removals.filter(({ fault }) => fault !== 'disconnect');
  expect(read.filter(({ parameters }) => parameters.invalidate !== 'true')).toEqual([]);
});

it('six parallel updates never give a product more than 5 images, and leave no other image at the host', async () => {
  const { id } = await createProduct(admin, createPictures(2));
  standIn.beforeResponse = () => delay(50);
  const update = () => sendForm(admin.put(`/api/products/${id}`), BREAD, createPictures(1));
  const responses = await inParallel(6, update);
  expect(sortedStatusesOf(responses)).toEqual([200, 200, 200, 400, 400, 400]);
  const { images } = await readProduct(admin, id);
  expect(images).toHaveLength(5);
  await expectOnlyImages(images ?? []);
});

it('parallel updates that remove the same image and add others lose no image', async () => {
  const { id, images } = await createProduct(admin, createPictures(3));
  const fields = { ...BREAD, 'images.removed[]': images[0] ?? '' };
  await Promise.all(
    [1, 2, 3].map(() => sendForm(admin.put(`/api/products/${id}`), fields, createPictures(1)).expect(200)),
  );
  const after = (await readProduct(admin, id)).images ?? [];
  expect(after.slice(0, 2)).toEqual(images.slice(1));
  expect(after).toHaveLength(5);
  await expectOnlyImages(after);
});

it.each([
  [['PUT', 'DELETE'], { PUT: 200, DELETE: 204 }],
  [['DELETE', 'PUT'], { PUT: 404, DELETE: 204 }],
] as const)(
  'a product that is changed by %j at the same time, in this order, leaves no product and no image: the statuses are %j',
  async (order, statuses) => {
    const { id } = await createProduct(admin, createPictures(1));
    const requests = {
      PUT: () => sendForm(admin.put(`/api/products/${id}`), BREAD, createPictures(2)),
      DELETE: () => admin.delete(`/api/products/${id}`),
    };
    const { commit } = await beginTransaction(service.database, 'SELECT FROM products FOR UPDATE');
    const responses: Promise<Response>[] = [];
    // PostgreSQL gives the lock of the row to the requests in the order in which they wait for it.
    for (const method of order) {
      responses.push(requests[method]().then((response) => response));
      await waitForLock(service.database, responses.length);
    }
    await commit();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(
      order.map((method) => statuses[method]),
    );
    expect(await countProducts(service.database)).toBe(0);
    await expectOnlyImages([]);
  },
);

it('images that a crash left staged are removed after STAGED_IMAGE_TTL_S, 600 seconds by default', async () => {
  // A process that is killed while it works at full load leaves many images.
  await insertStaged({ count: 150, ageSeconds: 601 });
  const [young = ''] = await insertStaged({ ageSeconds: 300 });
  const { images } = await createProduct(admin, createPictures(1));
  await addJob(service.database.pool, 'sweep-abandoned-images');
  await until('the abandoned images are gone', () => standIn.images.size === 2);
  expect(standIn.images.has(young)).toBe(true);
  expect(standIn.imageAt(images[0] ?? '')).toBeDefined();
  await until('their rows are gone', async () => (await readLedger(service.database)).length === 2);
});

it('with a STAGED_IMAGE_TTL_S of 1, images that a crash left staged are removed within seconds', async () => {
  // On a database of its own, because a sweep of the other service would not schedule the next one.
  const { database } = await useService({ settings: { ...settings, STAGED_IMAGE_TTL_S: '1' } });
  // The row of a younger image would stay until the image is 60 seconds old, because its upload may still arrive.
  await insertStaged({ count: 3, ageSeconds: 61, database });
  await until('the rows are gone', async () => (await readLedger(database)).length === 0);
  expect(standIn.images.size).toBe(0);
});

it('an image that is condemned during its upload is never attached', async () => {
  const before = await createProduct(admin, createPictures(1));
  const { promise: condemned, resolve: respond } = createDeferred();
  standIn.beforeResponse = () => condemned;
  const uploads = Promise.all([
    sendForm(admin.post('/api/products'), CAKE, createPictures(2)),
    sendForm(admin.put(`/api/products/${before.id}`), BREAD, createPictures(1)),
  ]);
  const listStaged = async () =>
    (await readLedger(service.database)).filter(({ state }) => state === 'staged');
  await until('three images are staged', async () => (await listStaged()).length === 3);
  await letTimePassForImagesAndJobs(service.database);
  await until('the images are condemned', async () => (await listStaged()).length === 0);
  respond();
  const [created, updated] = await uploads;
  expectFailure(created, 500, CREATION_FAILED);
  expectFailure(updated, 500, MESSAGES.unexpected);
  expect(await countProducts(service.database)).toBe(1);
  expect(await readProduct(admin, before.id)).toEqual(before);
  await expectOnlyImages(before.images);
});

it('the row of an upload without a response stays, and its image is removed again in case the upload still arrives', async () => {
  standIn.addFault({ operation: 'upload', kind: 'response-lost', nth: 1 });
  await sendForm(admin.post('/api/products'), CAKE, createPictures(1)).expect(500);
  await until('the image was removed once', () => standIn.images.size === 0);
  await until('a second removal is queued for a minute later', async () => {
    const [job, ...others] = await readJobs(service.database.pool, 'remove-image');
    return others.length === 0 && job?.locked_by === null && job.due_in > 30 && job.due_in <= 61;
  });
  const [row] = await readLedger(service.database);
  expect(row?.state).toBe('condemned');
  // The delayed upload arrives.
  standIn.images.set(row?.id ?? '', { bytes: createPng(), format: 'png' });
  await expectOnlyImages([]);
});

it('images that were stored before IMAGE_HOST changed are removed from their earlier host', async () => {
  const database = await createDatabase();
  const first = await useService({ database, settings });
  const { id } = await createProduct(await first.admin(), createPictures(2));
  await first.stop();
  expect(standIn.images.size).toBe(2);

  const second = await useService({ database, settings: { ...settings, IMAGE_HOST: 'local' } });
  await (await second.admin()).delete(`/api/products/${id}`).expect(204);
  await expectOnlyImages([], database);
});
