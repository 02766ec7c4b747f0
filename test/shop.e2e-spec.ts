import { buildValidationFailure } from './support/failure.js';
import { DEFAULT_SHOP, everyDay, type ShopSettings } from './support/shop-settings.js';
import { useAdmin, useService } from './support/service.js';

type Shop = ShopSettings & {
  readonly pickup: readonly { readonly date: string; readonly from: string; readonly to: string }[];
};

const TIME_ZONE = 'time_zone should be the name of a time zone, such as Asia/Jakarta';
const CLOSED = 'closed should be a list of at most 366 dates, such as 2026-12-25';
const LEAD_MINUTES = 'lead_minutes should be a whole number from 0 to 10080';
const DAYS_AHEAD = 'days_ahead should be a whole number from 1 to 90';
const hoursMessage = (day: string) =>
  `hours.${day} should be a list of at most 5 windows ["HH:MM", "HH:MM"] that do not overlap`;

const service = useService();
const admin = useAdmin(service);

afterEach(() => service.database.query('DELETE FROM shop'));

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
  expect(settings).toEqual(DEFAULT_SHOP);
  // Each day has one window, but today has none after its last pickup time.
  expect(pickup.length).toBeGreaterThanOrEqual(14);
  expect(pickup.length).toBeLessThanOrEqual(15);
  expect(pickup.at(-1)).toEqual({ date: expect.any(String) as string, from: '07:00', to: '18:00' });
});

describe('PUT /api/admin/shop', () => {
  it('stores settings with the maximum of windows, closed dates, lead time and days ahead, and everyone sees them at once', async () => {
    const dayOf2028 = (n: number) => new Date(Date.UTC(2028, 0, 1 + n)).toISOString().slice(0, 10); // 366 days
    const windows = ['01', '03', '05', '07', '09'].map(halfHour);
    const settings = {
      time_zone: 'Europe/Berlin',
      hours: { ...everyDay(...windows), sun: [['14:00', '24:00']], mon: [] },
      closed: Array.from({ length: 366 }, (_, n) => dayOf2028(n)),
      lead_minutes: 10_080,
      days_ahead: 90,
    };
    expect(shopOf(await put(settings).expect(200))).toMatchObject(settings);
    expect(await readShop()).toMatchObject(settings);
  });

  it('rejects a body of more than 600 values instead of ignoring all values after the 600th', async () => {
    const unknownDays = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`unknown ${n}`, []]));
    const hours = { ...DEFAULT_SHOP.hours, ...unknownDays };
    await put({ ...DEFAULT_SHOP, hours, closed: ['2028-12-25'] }).expect(400);
    expect((await readShop()).closed).toEqual([]);
  });

  it('sorts windows and dates, and drops unknown fields and duplicate dates', async () => {
    await put({
      ...DEFAULT_SHOP,
      hours: { ...everyDay(['13:00', '18:00'], ['07:00', '13:00']), holiday: [['00:00', '24:00']] },
      closed: ['2027-01-01', '2026-12-25', '2027-01-01'],
      name: 'Bakery',
    }).expect(200);
    const { pickup, ...settings } = await readShop();
    expect(pickup.length).toBeGreaterThan(0);
    expect(settings).toEqual({
      ...DEFAULT_SHOP,
      hours: everyDay(['07:00', '13:00'], ['13:00', '18:00']),
      closed: ['2026-12-25', '2027-01-01'],
    });
  });

  it('stores the complete settings of one of 50 parallel requests', async () => {
    const putNumber = (n: number) => put({ ...DEFAULT_SHOP, lead_minutes: n, days_ahead: n + 1 }).expect(200);
    await Promise.all(Array.from({ length: 50 }, (_, n) => putNumber(n)));
    const { lead_minutes, days_ahead } = await readShop();
    expect(days_ahead).toBe(lead_minutes + 1);
  });

  it('requires all five settings', async () => {
    const response = await put({}).expect(400);
    const details = {
      time_zone: TIME_ZONE,
      hours: hoursMessage('mon'),
      closed: CLOSED,
      lead_minutes: LEAD_MINUTES,
      days_ahead: DAYS_AHEAD,
    };
    expect(response.body).toEqual(buildValidationFailure(details));
  });

  const sunday = (value: unknown) => ({ hours: { ...everyDay(['07:00', '18:00']), sun: value } });
  const MORNING = ['07:00', '12:00'];
  const BAD_SUNDAY = { hours: hoursMessage('sun') };
  it.each<[string, object, Record<string, string>]>([
    ['an unknown time zone', { time_zone: 'Asia/Atlantis' }, { time_zone: TIME_ZONE }],
    ['an offset as the time zone', { time_zone: '+07:00' }, { time_zone: TIME_ZONE }],
    ['a time zone that is not text', { time_zone: ['UTC'] }, { time_zone: TIME_ZONE }],
    ['hours of six days', { hours: { ...everyDay(), sun: undefined } }, { hours: hoursMessage('sun') }],
    ['hours as a list', { hours: [] }, { hours: hoursMessage('mon') }],
    ['a day that is null', sunday(null), BAD_SUNDAY],
    ['windows that overlap', sunday([MORNING, ['11:59', '18:00']]), BAD_SUNDAY],
    ['the same window twice', sunday([MORNING, MORNING]), BAD_SUNDAY],
    ['a window that ends before it begins', sunday([['18:00', '07:00']]), BAD_SUNDAY],
    ['an empty window', sunday([['07:00', '07:00']]), BAD_SUNDAY],
    ['a time without a leading zero', sunday([['7:00', '18:00']]), BAD_SUNDAY],
    ['a time after midnight', sunday([['07:00', '24:01']]), BAD_SUNDAY],
    ['24:00 as the beginning', sunday([['24:00', '24:00']]), BAD_SUNDAY],
    ['a window of three times', sunday([['07:00', '12:00', '18:00']]), BAD_SUNDAY],
    ['numbers as times', sunday([[7, 18]]), BAD_SUNDAY],
    ['six windows a day', sunday(['01', '03', '05', '07', '09', '11'].map(halfHour)), BAD_SUNDAY],
    ['a closed date that does not exist', { closed: ['2026-02-30'] }, { closed: CLOSED }],
    ['a closed date with a time', { closed: ['2026-12-25T00:00'] }, { closed: CLOSED }],
    ['closed dates as text', { closed: '2026-12-25' }, { closed: CLOSED }],
    ['367 closed dates', { closed: Array<string>(367).fill('2026-12-25') }, { closed: CLOSED }],
    ['a negative lead time', { lead_minutes: -1 }, { lead_minutes: LEAD_MINUTES }],
    ['a lead time of more than a week', { lead_minutes: 10_081 }, { lead_minutes: LEAD_MINUTES }],
    ['a lead time as text', { lead_minutes: '120' }, { lead_minutes: LEAD_MINUTES }],
    ['0 days ahead', { days_ahead: 0 }, { days_ahead: DAYS_AHEAD }],
    ['91 days ahead', { days_ahead: 91 }, { days_ahead: DAYS_AHEAD }],
    ['1.5 days ahead', { days_ahead: 1.5 }, { days_ahead: DAYS_AHEAD }],
  ])('rejects %s and changes nothing', async (_what, bad, details) => {
    const response = await put({ ...DEFAULT_SHOP, ...bad }).expect(400);
    expect(response.body).toEqual(buildValidationFailure(details));
    expect(await readShop()).toMatchObject(DEFAULT_SHOP);
  });
});
