import type { Client } from './support/client.js';
import { CloudinaryStandIn } from './support/cloudinary-stand-in.js';
import {
  BREAD,
  CAKE,
  createProduct,
  expectOnlyImages,
  fail,
  form,
  pictures,
  productCount,
  productOf,
} from './support/products.js';
import { startService, type TestService } from './support/service.js';
import { until } from './support/wait.js';

const CREATION_FAILED = fail(
  500,
  'fail to create product and this is not your fault, please try again later',
);
const UNEXPECTED = fail(500, 'something went wrong on our side, please try again later');
const LONGEST_ANSWER_MS = 20_000;

/** Waits for the real deadline of an upload. */
describe('products while uploads hang', () => {
  let standIn: CloudinaryStandIn;
  let service: TestService;
  let admin: Client;

  beforeAll(async () => {
    standIn = await CloudinaryStandIn.start();
    service = await startService({ settings: { IMAGE_HOST: 'cloudinary', CLOUDINARY_URL: standIn.url } });
    admin = await service.admin();
  });

  afterAll(async () => {
    await service.stop();
    await standIn.close();
  });

  function uploads(): number {
    return standIn.requests.filter(({ operation }) => operation === 'upload').length;
  }

  it('an upload that hangs or drips is answered within 20 s and leaves nothing', async () => {
    const before = await createProduct(admin, pictures(2));
    const pending: Promise<{ milliseconds: number; body: unknown }>[] = [];

    async function send(request: ReturnType<typeof form>, count: number): Promise<void> {
      const earlier = uploads();
      const begun = Date.now();
      pending.push(
        request.expect(500).then(({ body }) => ({ milliseconds: Date.now() - begun, body: body as unknown })),
      );
      // The next fault is counted from the uploads of the next request.
      await until('its uploads have begun', () => uploads() === earlier + count);
    }

    standIn.fault({ operation: 'upload', kind: 'hang', nth: 1 });
    await send(form(admin.post('/api/products'), CAKE, pictures(5)), 5);
    standIn.fault({ operation: 'upload', kind: 'hang-after-accepting', nth: 3 });
    await send(form(admin.post('/api/products'), CAKE, pictures(5)), 5);
    standIn.fault({ operation: 'upload', kind: 'drip', nth: 5 });
    await send(form(admin.post('/api/products'), CAKE, pictures(5)), 5);
    standIn.fault({ operation: 'upload', kind: 'drip', nth: 2 });
    const fields = { ...BREAD, 'images.removed[]': before.images[0] ?? '' };
    await send(form(admin.put(`/api/products/${before.id}`), fields, pictures(3)), 3);

    const answers = await Promise.all(pending);
    expect(answers.map(({ body }) => body)).toEqual([
      ...Array.from({ length: 3 }, () => CREATION_FAILED),
      UNEXPECTED,
    ]);
    expect(Math.max(...answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(LONGEST_ANSWER_MS);
    expect(await productCount(service.database)).toBe(1);
    expect(productOf(await admin.get(`/api/products/${before.id}`).expect(200))).toEqual(before);
    standIn.clearFaults();
    await expectOnlyImages(service.database, standIn, before.images);
  }, 30_000);
});
