import { createNoisyPng } from '../support/pictures.js';
import { CAKE, countProducts, letTimePassForImagesAndJobs, readLedger } from '../support/products.js';
import { useServiceProcess } from '../support/service-process.js';
import { buildFormPieces, upload, type UploadOptions } from '../support/upload-load.js';
import { inParallel, until } from '../support/wait.js';
import { measureMaximum } from './support/maximum.js';

const MIB = 1024 * 1024;
const MAX_RESIDENT_MIB = 400;
const UPLOADS = 40;

const FILE = createNoisyPng(5 * MIB);
const FIVE_FILES = [FILE, FILE, FILE, FILE, FILE];

const service = await useServiceProcess({ LOG_LEVEL: 'error' });
const admin = await service.admin();

describe('resident memory of the service stays under 400 MiB', () => {
  afterEach(async () => {
    const rows = await service.database.query<{ id: number }>('SELECT id FROM products');
    for (const { id } of rows) await admin.delete(`/api/products/${id}`).expect(204);
    await until(
      'no image is left',
      async () => {
        await letTimePassForImagesAndJobs(service.database);
        return (await readLedger(service.database)).length === 0;
      },
      60_000,
    );
  });

  /** Sends uploads in parallel and asserts the limit of resident memory. Returns the statuses; null after a disconnect. */
  async function sendUploads(options: UploadOptions = {}, pieces = buildFormPieces(CAKE, FIVE_FILES)) {
    const uploads = inParallel(UPLOADS, () => upload(admin, pieces, options));
    const maxMiB = await measureMaximum(() => service.residentMiB(), uploads);
    expect(maxMiB).toBeLessThan(MAX_RESIDENT_MIB);
    return uploads;
  }

  const repeatForAll = (status: number | null) => Array.from({ length: UPLOADS }, () => status);

  it('during parallel forms of 25 MiB, each of which creates a product', async () => {
    expect(await sendUploads()).toEqual(repeatForAll(201));
    expect(await countProducts(service.database)).toBe(UPLOADS);
    expect(await readLedger(service.database)).toHaveLength(5 * UPLOADS);
  });

  it('during forms of senders that disconnect halfway, which leave no data', async () => {
    expect(await sendUploads({ disconnectAfterBytes: 12 * MIB })).toEqual(repeatForAll(null));
    expect(await countProducts(service.database)).toBe(0);
  });

  it('during forms with almost the maximum number and size of text fields, which create products', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 45 }, (_, index) => [`field-${index}`, 'x'.repeat(60_000)]),
    );
    expect(await sendUploads({}, buildFormPieces({ ...CAKE, ...fields }, []))).toEqual(repeatForAll(201));
  });
});
