import { randomUUID } from 'node:crypto';
import type { Client } from './support/client.js';
import { CloudinaryStandIn } from './support/cloudinary-stand-in.js';
import { png } from './support/pictures.js';
import {
  CAKE,
  createProduct,
  expectOnlyImages,
  fail,
  form,
  type FormFile,
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
const BREAD = { name: 'Roti', description: 'Soft', price: '12500', 'images.removed[]': '' } as const;
const SLOW_KINDS = ['hang', 'hang-after-accepting', 'drip'] as const;
const LONGEST_ANSWER_MS = 20_000;

function pictures(count: number): FormFile[] {
  return Array.from({ length: count }, (_, index) => ({ bytes: png(randomUUID()), name: `${index}.png` }));
}

/** A file of its own, for it waits for the real deadline of an upload: all of its requests at the same time. */
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

  it('interface 4.6 rules 2 and 5, 4.7 rule 5: upload k of 5 that hangs or drips answers within 20 s and leaves nothing', async () => {
    const before = await createProduct(admin, pictures(2));
    const pending: Promise<{ milliseconds: number; body: unknown }>[] = [];

    async function send(request: ReturnType<typeof form>, count: number): Promise<void> {
      const before = uploads();
      const begun = Date.now();
      pending.push(
        request.expect(500).then(({ body }) => ({ milliseconds: Date.now() - begun, body: body as unknown })),
      );
      // The next fault is counted from the uploads of the next request.
      await until('its uploads have begun', () => uploads() === before + count);
    }

    for (const kind of SLOW_KINDS) {
      for (const nth of [1, 2, 3, 4, 5]) {
        standIn.fault({ operation: 'upload', kind, nth });
        await send(form(admin.post('/api/products'), CAKE, pictures(5)), 5);
      }
    }
    for (const kind of SLOW_KINDS) {
      standIn.fault({ operation: 'upload', kind, nth: 2 });
      await send(
        form(
          admin.put(`/api/products/${before.id}`),
          { ...BREAD, 'images.removed[]': before.images[0] ?? '' },
          pictures(3),
        ),
        3,
      );
    }

    const answers = await Promise.all(pending);
    expect(answers.map(({ body }) => body)).toEqual([
      ...Array.from({ length: 15 }, () => CREATION_FAILED),
      ...Array.from({ length: 3 }, () => UNEXPECTED),
    ]);
    expect(Math.max(...answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(LONGEST_ANSWER_MS);
    expect(await productCount(service.database)).toBe(1);
    expect(productOf(await admin.get(`/api/products/${before.id}`).expect(200))).toEqual(before);
    standIn.clearFaults();
    await expectOnlyImages(service.database, standIn, before.images);
  }, 40_000);
});
