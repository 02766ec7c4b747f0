import { expectFailure, expectInvalid, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';
import { DEFAULT_SHOP, everyDay, OPTIONAL_DEFAULTS, type ShopSettings } from './support/shop-settings.js';
import { inParallel } from './support/wait.js';

type Shop = ShopSettings & {
  readonly pickup: readonly { readonly date: string; readonly from: string; readonly to: string }[];
};

const TIME_ZONE = 'time_zone should be the name of a time zone, such as Asia/Jakarta';
const CLOSED = 'closed should be a list of at most 366 dates, such as 2026-12-25';
const LEAD_MINUTES = 'lead_minutes should be a whole number from 0 to 10080';
const DAYS_AHEAD = 'days_ahead should be a whole number from 1 to 90';
const hoursMessage = (day: string) =>
  `hours.${day} should be a list of at most 5 windows ["HH:MM", "HH:MM"] that do not overlap`;

const WEBSITE = 'website should be an http or https URL';
const PER_SLOT = 'orders_per_slot should be a whole number from 1 to 999';
const PAUSED_UNTIL =
  'paused_until should be a time with an offset, such as 2026-11-24T10:30:00+07:00, or null';
const RANGE = { from: '2027-01-02', to: '2027-01-03' };
const BAD_RANGES =
  'closed_ranges should be a list of at most 50 ranges {from, to, reason}, with dates from ≤ to ' +
  'and a reason of at most 100 characters or null';
const CUT_OFF = 'cut_off should be a time HH:MM, such as 20:00, or null';

const service = await useService();
const admin = await service.admin();

afterEach(() => service.database.query('DELETE FROM shop; DELETE FROM orders'));

function shopOf({ body }: { readonly body: unknown }): Shop {
  return (body as { data: { shop: Shop } }).data.shop;
}

async function readShop(): Promise<Shop> {
  return shopOf(await service.client().get('/api/shop').expect(200));
}

const halfHour = (hour: string) => [`${hour}:00`, `${hour}:30`] as const;
const put = (settings: object) => admin.put('/api/admin/shop').send(settings);

it('GET /api/shop shows the default settings and the pickup windows of today and the next 14 days to anyone', async () => {
  const { pickup, ...settings } = await readShop();
  expect(settings).toEqual({ ...DEFAULT_SHOP, ...OPTIONAL_DEFAULTS });
  // Each day has one window, but today has none after its last pickup time.
  expect(pickup.length).toBeGreaterThanOrEqual(14);
  expect(pickup.length).toBeLessThanOrEqual(15);
  expect(pickup.at(-1)).toEqual({ date: expect.any(String) as string, from: '07:00', to: '18:00' });
});

/** Values of every detail, different from the default. */
const DETAILS = {
  name: '🥐'.repeat(100),
  address: 'Jl. Kemang Raya 12\nJakarta Selatan',
  phone: '021 555-123',
  whatsapp: '+62 812-3456-7890',
  website: 'https://roti.example/pagi?x=1',
  language: 'id',
  closed_ranges: [{ from: '2027-03-09', to: '2027-03-12', reason: 'Lebaran' }],
  cut_off: '20:00',
  slot_minutes: 15,
  orders_per_slot: 999,
  paused_until: '2020-01-01T00:00:00.000Z',
} as const;

describe('PUT /api/admin/shop', () => {
  it('changes no detail that is absent, and clears details that are null, and a blank address', async () => {
    await put({ ...DEFAULT_SHOP, ...DETAILS }).expect(200);
    expect(shopOf(await put(DEFAULT_SHOP).expect(200))).toMatchObject(DETAILS);
    expect(await readShop()).toMatchObject(DETAILS);
    const { name, language, closed_ranges, ...clearable } = DETAILS;
    const cleared = Object.fromEntries(Object.keys(clearable).map((detail) => [detail, null]));
    await put({ ...DEFAULT_SHOP, ...cleared, address: ' ' }).expect(200);
    expect(await readShop()).toMatchObject({ ...cleared, name, language, closed_ranges });
  });

  it('stores settings of the maximum size, and everyone sees them at once', async () => {
    const dayOf2028 = (n: number) => new Date(Date.UTC(2028, 0, 1 + n)).toISOString().slice(0, 10);
    const windows = ['01', '03', '05', '07', '09'].map(halfHour);
    const settings = {
      time_zone: 'Europe/Berlin',
      hours: { ...everyDay(...windows), sun: [['14:00', '24:00']], mon: [] },
      closed: Array.from({ length: 366 }, (_, n) => dayOf2028(n)),
      lead_minutes: 10_080,
      days_ahead: 90,
      ...DETAILS,
      website: 'https://roti.example/'.padEnd(2_000, 'x'),
      closed_ranges: Array.from({ length: 50 }, (_, n) => {
        return { from: dayOf2028(n), to: '2028-12-31', reason: '🎂'.repeat(100) };
      }),
    };
    expect(shopOf(await put(settings).expect(200))).toMatchObject(settings);
    expect(await readShop()).toMatchObject(settings);
  });

  it('rejects a body of more than 800 values, even if only a value after the 800th is invalid', async () => {
    const unknownFields = Object.fromEntries(Array.from({ length: 800 }, (_, n) => [`unknown ${n}`, null]));
    const closed_ranges = [{ ...RANGE, ...unknownFields }];
    const response = await put({ ...DEFAULT_SHOP, closed_ranges, cut_off: 'x' });
    expectFailure(response, 400, MESSAGES.malformedRequest);
    expect((await readShop()).closed_ranges).toEqual([]);
  });

  it('sorts windows and dates, and drops unknown fields and duplicate dates', async () => {
    await put({
      ...DEFAULT_SHOP,
      hours: { ...everyDay(['13:00', '18:00'], ['07:00', '13:00']), holiday: [['00:00', '24:00']] },
      closed: ['2027-01-01', '2026-12-25', '2027-01-01'],
      closed_ranges: [
        { from: '2027-03-09', to: '2027-03-12', reason: ` Lebaran${' '.repeat(100)}`, colour: 'red' },
        { from: '2027-01-02', to: '2027-01-02' },
      ],
      owner: 'Ayu',
    }).expect(200);
    const { pickup, ...settings } = await readShop();
    expect(pickup.length).toBeGreaterThan(0);
    expect(settings).toEqual({
      ...DEFAULT_SHOP,
      ...OPTIONAL_DEFAULTS,
      closed_ranges: [
        { from: '2027-01-02', to: '2027-01-02', reason: null },
        { from: '2027-03-09', to: '2027-03-12', reason: 'Lebaran' },
      ],
      hours: everyDay(['07:00', '13:00'], ['13:00', '18:00']),
      closed: ['2026-12-25', '2027-01-01'],
    });
  });

  it('requires all five settings', async () => {
    expectInvalid(await put({}), {
      time_zone: TIME_ZONE,
      hours: hoursMessage('mon'),
      closed: CLOSED,
      lead_minutes: LEAD_MINUTES,
      days_ahead: DAYS_AHEAD,
    });
  });

  const sunday = (value: unknown) => ({ ...everyDay(['07:00', '18:00']), sun: value });
  const MORNING = ['07:00', '12:00'];
  const BAD_SUNDAY = hoursMessage('sun');
  const PHONE = 'should be a phone number';
  it.each<[string, string, unknown, string]>([
    ['an unknown time zone', 'time_zone', 'Asia/Atlantis', TIME_ZONE],
    ['an offset as the time zone', 'time_zone', '+07:00', TIME_ZONE],
    ['hours of six days', 'hours', sunday(undefined), BAD_SUNDAY],
    ['windows that overlap', 'hours', sunday([MORNING, ['11:59', '18:00']]), BAD_SUNDAY],
    ['a window that ends before it begins', 'hours', sunday([['18:00', '07:00']]), BAD_SUNDAY],
    ['a time after midnight', 'hours', sunday([['07:00', '24:01']]), BAD_SUNDAY],
    ['24:00 as the beginning', 'hours', sunday([['24:00', '24:00']]), BAD_SUNDAY],
    ['six windows a day', 'hours', sunday(['01', '03', '05', '07', '09', '11'].map(halfHour)), BAD_SUNDAY],
    ['a closed date that does not exist', 'closed', ['2026-02-30'], CLOSED],
    ['367 closed dates', 'closed', Array<string>(367).fill('2026-12-25'), CLOSED],
    ['a negative lead time', 'lead_minutes', -1, LEAD_MINUTES],
    ['a lead time of more than a week', 'lead_minutes', 10_081, LEAD_MINUTES],
    ['91 days ahead', 'days_ahead', 91, DAYS_AHEAD],
    ['a name that is null', 'name', null, 'name is required'],
    ['a name of 101 characters', 'name', 'x'.repeat(101), 'name can have 100 characters at max'],
    ['a name of two lines', 'name', 'a\nb', 'name has invalid characters'],
    ['an address of 301 characters', 'address', 'x'.repeat(301), 'address can have 300 characters at max'],
    ['a phone number with letters', 'phone', '0812 CALL', `phone ${PHONE}`],
    ['a blank phone number', 'phone', ' ', `phone ${PHONE}`],
    ['an empty website', 'website', '', WEBSITE],
    ['a script as the website', 'website', 'javascript:alert(1)', WEBSITE],
    ['a language that is not supported', 'language', 'fr', 'language should be id or en'],
    ['a range in reverse', 'closed_ranges', [{ from: '2027-01-02', to: '2027-01-01' }], BAD_RANGES],
    ['a range from 30 February', 'closed_ranges', [{ from: '2027-02-30', to: '2027-03-01' }], BAD_RANGES],
    ['a reason of 101 characters', 'closed_ranges', [{ ...RANGE, reason: 'x'.repeat(101) }], BAD_RANGES],
    ['51 ranges', 'closed_ranges', Array<object>(51).fill(RANGE), BAD_RANGES],
    ['a cut-off time of 24:00', 'cut_off', '24:00', CUT_OFF],
    ['slots of 20 minutes', 'slot_minutes', 20, 'slot_minutes should be 15, 30, 60 or null'],
    ['0 orders per slot', 'orders_per_slot', 0, PER_SLOT],
    ['1000 orders per slot', 'orders_per_slot', 1000, PER_SLOT],
    ['a pause without an offset', 'paused_until', '2026-11-24T10:30:00', PAUSED_UNTIL],
    // `Date.parse` would read 2 March.
    ['a pause until 30 February', 'paused_until', '2027-02-30T10:00:00+07:00', PAUSED_UNTIL],
  ])('rejects %s and changes nothing', async (_what, field, value, message) => {
    const response = await put({ ...DEFAULT_SHOP, [field]: value });
    expectInvalid(response, { [field]: message });
    expect(await readShop()).toMatchObject(DEFAULT_SHOP);
  });
});

describe('GET /api/admin/shop', () => {
  const get = () => admin.get('/api/admin/shop');

  it('shows what everyone sees, and counts the paid orders that are due on closed dates', async () => {
    const closed_ranges = [{ from: '2030-05-01', to: '2030-05-03', reason: null }];
    // With this cut-off time, no pickup window begins at a time that depends on the current minute.
    await put({ ...DEFAULT_SHOP, closed_ranges, cut_off: '00:00' }).expect(200);
    await service.database.query(
      `INSERT INTO orders (order_id, user_id, gross_amount, status, fulfilment, pickup_at)
       SELECT gen_random_uuid(), (SELECT min(id) FROM users), 1, status, fulfilment, pickup_at::timestamptz
       FROM (VALUES ('settlement', 'new', '2030-05-01T00:00+07'), ('settlement', 'ready', '2030-05-01T23:59+07'),
         ('settlement', 'new', '2030-05-03T12:00+07'), ('settlement', 'new', '2030-05-04T12:00+07'),
         ('pending', 'new', '2030-05-02T12:00+07'), ('settlement', 'refused', '2030-05-02T12:00+07'),
         ('settlement', 'collected', '2030-05-02T12:00+07')) AS stored (status, fulfilment, pickup_at)`,
    );
    const { paid_orders, ...settings } = shopOf(await get().expect(200)) as Shop & { paid_orders: object[] };
    expect(settings).toEqual(await readShop());
    expect(paid_orders).toEqual([
      { date: '2030-05-01', orders: 2 },
      { date: '2030-05-03', orders: 1 },
    ]);
  });

  it('has an ETag but never gets 304, because the pickup windows change without the settings', async () => {
    const { etag = '' } = (await get().expect(200)).headers;
    await get().set('If-None-Match', etag).expect(200);
  });

  it('has an ETag with which one of 50 parallel changes succeeds, and the others get 412', async () => {
    const { etag = '' } = (await get().expect(200)).headers;
    const change = (n: number) => put({ ...DEFAULT_SHOP, name: `Roti ${n}` }).set('If-Match', etag);
    const responses = await inParallel(50, change);
    const [changed, ...others] = responses.toSorted((a, b) => a.status - b.status);
    expect(changed?.status).toBe(200);
    expect((await get().expect(200)).headers.etag).toBe(changed?.headers.etag);
    for (const response of others) expectFailure(response, 412, MESSAGES.changedMeanwhile);
    expect((await readShop()).name).toBe(changed && shopOf(changed).name);
    await change(51)
      .set('If-Match', changed?.headers.etag ?? '')
      .expect(200);
    await put(DEFAULT_SHOP).expect(200);
  });
});
