import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { addDays, startOfDay, toLocalDateAndTime } from '../src/common/calendar.js';
import { expectInvalid } from './support/failure.js';
import type { OrderBody } from './support/orders.js';
import { useService } from './support/service.js';
import { setUpShop } from './support/shop-settings.js';
import { until } from './support/wait.js';

interface Item {
  readonly product: number;
  readonly name?: string;
  readonly quantity?: number;
  readonly price?: number;
}

const PAID_AT = '2026-10-20T10:00:00+02:00';
const HEADER = 'date,order_id,product_id,name,quantity,price,sum,status,refunded';

const service = await useService();
const admin = await service.admin();

beforeEach(async () => {
  await setUpShop(admin, { time_zone: 'Europe/Berlin' });
  await service.database.query('DELETE FROM order_items; DELETE FROM orders');
});

/** Stores an order, by default a paid order of one product. Returns the order id. */
async function storeOrder({
  paidAt = PAID_AT,
  pickupAt = null as string | null,
  status = 'settlement',
  fraud = null as string | null,
  fulfilment = 'new',
  refunded = 0,
  items = [{ product: 1 }] as readonly Item[],
} = {}): Promise<string> {
  const id = randomUUID();
  const total = items.reduce((sum, { price = 1000, quantity = 1 }) => sum + price * quantity, 0);
  await service.database.query(
    `WITH made AS (
       INSERT INTO orders (order_id, user_id, gross_amount, status, fraud_status, fulfilment, refunded_amount, pickup_at,
         first_paid_at) SELECT $1, min(id), $2, $3, $4, $5, $6, $7, $8 FROM users)
     INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
     SELECT $1, position - 1, product, coalesce(name, 'Product ' || product), coalesce(price, 1000), coalesce(quantity, 1)
     FROM ROWS FROM (json_to_recordset($9) AS (product int, name text, price bigint, quantity int))
       WITH ORDINALITY AS item (product, name, price, quantity, position)`,
    [id, total, status, fraud, fulfilment, refunded, pickupAt, paidAt, JSON.stringify(items)],
  );
  return id;
}

/** Stores paid orders. `time`: SQL for the time between `PAID_AT` and the payment of the nth order. */
async function storeManyOrders({
  count = 0,
  time = "n * interval '1 s'",
  products = 1,
  name = 'Roti',
}): Promise<void> {
  await service.database.query(
    `WITH made AS (
       INSERT INTO orders (order_id, user_id, gross_amount, status, first_paid_at)
       SELECT gen_random_uuid(), (SELECT min(id) FROM users), 1, 'settlement', $1::timestamptz + ${time}
       FROM generate_series(1, $2::integer) AS n RETURNING order_id)
     INSERT INTO order_items (order_id, position, product_id, name, price, quantity)
     SELECT order_id, p, p, $4, 1, 1 FROM made, generate_series(1, $3::integer) AS p`,
    [PAID_AT, count, products, name],
  );
}

async function getDay(date: string) {
  const response = await admin.get(`/api/admin/days/${date}`).expect(200);
  type Orders = OrderBody[];
  const { data } = response.body as { data: { products: object[]; orders: Orders; overdue: Orders } };
  const listIds = (orders: Orders) => orders.map(({ order_id }) => order_id);
  return { ...data, ids: listIds(data.orders), overdueIds: listIds(data.overdue) };
}

async function getSales(from: string, to: string) {
  const response = await admin.get(`/api/admin/sales?from=${from}&to=${to}`).expect(200);
  return (response.body as { data: { total: object; days: { date: string }[]; products: object[] } }).data;
}

describe('GET /api/admin/days/{date}', () => {
  it('lists the overdue orders of the past 30 days on the sheet of today, oldest first', async () => {
    // A zone in which the day does not end during the test.
    const isLate = toLocalDateAndTime(new Date(), 'Europe/Berlin').time >= '23:00';
    const zone = isLate ? 'Asia/Jakarta' : 'Europe/Berlin';
    await setUpShop(admin, { time_zone: zone });
    const today = toLocalDateAndTime(new Date(), zone).date;
    const onDay = (days: number) => startOfDay(addDays(today, days), zone).toISOString();
    const paidAt = onDay(-29);
    const yesterday = await storeOrder({ paidAt, pickupAt: onDay(-1), fulfilment: 'ready' });
    const oldest = await storeOrder({ paidAt, pickupAt: onDay(-30) });
    const withoutPickup = await storeOrder({ paidAt: onDay(-2), fulfilment: 'preparing' });
    await storeOrder({ paidAt, pickupAt: onDay(-31) });
    for (const fulfilment of ['collected', 'refused'])
      await storeOrder({ paidAt, pickupAt: onDay(-1), fulfilment });
    await storeOrder({ paidAt, pickupAt: onDay(-1), status: 'pending' });
    const due = await storeOrder({ paidAt, pickupAt: onDay(0) });
    expect(await getDay(today)).toMatchObject({ ids: [due], overdueIds: [oldest, withoutPickup, yesterday] });
    expect((await getDay(addDays(today, 1))).overdue).toEqual([]);
  });

  it('lists the paid orders of a day by pickup time, those without a pickup time last, and sums up their products', async () => {
    const items = [{ product: 7 }];
    const onDay = (time: string) => `2026-10-22T${time}:00+02:00`;
    const late = await storeOrder({ pickupAt: onDay('17:00'), items: [{ product: 7, quantity: 2 }] });
    const three = [{ product: 7, quantity: 3 }, { product: 8 }];
    const early = await storeOrder({ pickupAt: onDay('08:00'), fulfilment: 'ready', items: three });
    const paidAt = onDay('06:00');
    // Was paid last, so that it names the product.
    const renamed = [{ product: 7, name: 'Product 7, renamed' }];
    const withoutPickup = await storeOrder({ paidAt, fulfilment: 'preparing', items: renamed });
    // This order was paid on the day, but its pickup is on another day.
    await storeOrder({ paidAt, pickupAt: '2026-10-23T08:00:00+02:00', items });
    const storeAtNine = (fields: Parameters<typeof storeOrder>[0]) =>
      storeOrder({ pickupAt: onDay('09:00'), items, ...fields });
    await storeAtNine({ fulfilment: 'refused' });
    await storeAtNine({ status: 'pending' });
    await storeAtNine({ status: 'refund', refunded: 1000 });
    await storeAtNine({ status: 'capture', fraud: 'challenge' });
    const partial = await storeAtNine({ status: 'partial_refund', refunded: 400, fulfilment: 'collected' });

    const { ids, products, orders } = await getDay('2026-10-22');
    expect(ids).toEqual([early, partial, late, withoutPickup]);
    // Only the 3 pieces of `late` and `withoutPickup` are open, because these orders are not ready yet.
    expect(products).toEqual([
      { product_id: 7, name: 'Product 7, renamed', quantity: 7, open: 3 },
      { product_id: 8, name: 'Product 8', quantity: 1, open: 0 },
    ]);
    expect(orders[0]?.customer).toBeDefined();
  });

  // 9999-12-31 is the last valid date. The day ends with a midnight in the year 10000.
  it.each(['2026-01-01', '9999-12-31'])('has empty lists for a day without orders: %s', async (date) => {
    expect(await getDay(date)).toMatchObject({ products: [], orders: [], overdue: [] });
  });

  it('rejects a date that does not exist', async () => {
    const details = { date: 'date should be a date, such as 2026-11-24' };
    expectInvalid(await admin.get('/api/admin/days/2026-02-30'), details);
  });
});

describe('GET /api/admin/sales', () => {
  it('reports revenue less refunds by payment date, and lists products by revenue, highest first', async () => {
    const two = [{ product: 1, quantity: 2 }];
    const pickupAt = '2026-10-26T10:00:00+01:00';
    await storeOrder({ paidAt: '2026-10-24T23:59:59+02:00', pickupAt, items: two });
    // A refused order counts until it is refunded.
    const other = [{ product: 2, price: 5000 }];
    await storeOrder({ paidAt: '2026-10-25T23:30:00+01:00', fulfilment: 'refused', items: other });
    // The report shows the name under which a product was sold last.
    const renamed = [{ product: 1, name: 'Renamed' }];
    const partial = { status: 'partial_refund', refunded: 500, items: renamed };
    await storeOrder({ paidAt: '2026-10-25T00:00:00+02:00', ...partial });
    await storeOrder({ paidAt: '2026-10-25T10:00:00+01:00', status: 'refund', refunded: 1000 });
    await storeOrder({ paidAt: '2026-10-27T00:00:00+01:00' });
    expect(await getSales('2026-10-24', '2026-10-26')).toEqual({
      total: { orders: 3, revenue: 7500 },
      days: [
        { date: '2026-10-24', orders: 1, revenue: 2000 },
        { date: '2026-10-25', orders: 2, revenue: 5500 },
        { date: '2026-10-26', orders: 0, revenue: 0 },
      ],
      // Partial refunds do not reduce the revenue of products.
      products: [
        { product_id: 2, name: 'Product 2', quantity: 1, revenue: 5000 },
        { product_id: 1, name: 'Renamed', quantity: 3, revenue: 3000 },
      ],
    });
  });

  it('accepts a range of 366 days', async () => {
    expect((await getSales('2028-01-01', '2028-12-31')).days).toHaveLength(366);
  });

  const FROM = 'from should be a date, such as 2026-11-24';
  const TO = 'to should be a date, such as 2026-11-24';
  it.each([
    ['', { from: FROM, to: TO }],
    ['from=2027-01-01&to=2028-01-02', { to: 'from and to can include 366 days at max' }],
    ['from=2027-01-02&to=2027-01-01', { to: 'to should not be before from' }],
  ])('rejects the range "%s", like GET /api/admin/sales.csv', async (query, details) => {
    for (const path of ['sales', 'sales.csv'])
      expectInvalid(await admin.get(`/api/admin/${path}?${query}`), details);
  });
});

describe('GET /api/admin/sales.csv', () => {
  const getCsv = (from: string, to: string) =>
    admin.get(`/api/admin/sales.csv?from=${from}&to=${to}`).expect(200);

  it('contains one line for each item of paid orders, without a cell that a spreadsheet runs as a formula', async () => {
    const formulas = ['=1+1', '+1', '-1', '@x', '\ttab', '\rcr', 'Kue;=1', 'Roti;"=1;x'];
    const names = [...formulas, 'a,"b"', 'two\nlines', 'a\rb', 'plain'];
    const items = names.map((name, n) => ({ product: n + 1, name, quantity: 2 }));
    const id = await storeOrder({ items });
    await storeOrder({ status: 'refund', refunded: 1000 });
    const response = await getCsv('2026-10-20', '2026-10-20');
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8');
    const safe = [`'=1+1`, `'+1`, `'-1`, `'@x`, `'\ttab`, `"'\rcr"`, `"'Kue;=1"`, `"'Roti;""=1;x"`];
    const cells = [...safe, '"a,""b"""', '"two\nlines"', '"a\rb"', 'plain'];
    const lines = cells.map((cell, n) => `2026-10-20,${id},${n + 1},${cell},2,1000,2000,settlement,0`);
    expect(response.text).toBe([HEADER, ...lines, ''].join('\r\n'));
    expect((await getCsv('2026-01-01', '2026-01-31')).text).toBe(`${HEADER}\r\n`);
  });

  it('shows the refunded amount on the first line of an order, so that the sums agree with GET /api/admin/sales', async () => {
    const partial = { status: 'partial_refund', refunded: 1500 };
    await storeOrder({ ...partial, items: [{ product: 1, price: 3000 }, { product: 2 }] });
    await storeOrder({ items: [{ product: 1 }, { product: 2, quantity: 2 }] });
    const [, ...lines] = (await getCsv('2026-10-20', '2026-10-20')).text.trimEnd().split('\r\n');
    const cells = lines.map((line) => line.split(','));
    expect(cells.map((row) => row[8]).toSorted()).toEqual(['0', '0', '0', '1500']);
    const total = cells.reduce((sum, row) => sum + Number(row[6]) - Number(row[8]), 0);
    expect((await getSales('2026-10-20', '2026-10-20')).total).toEqual({ orders: 2, revenue: total });
  });

  it('has semicolons and a byte order mark for Excel, and rejects any other format', async () => {
    const id = await storeOrder({ items: [{ product: 1, name: 'Kue; lapis, "legit"' }] });
    const request = admin.get('/api/admin/sales.csv?from=2026-10-20&to=2026-10-20&format=excel');
    const bytes = (await request.responseType('blob').expect(200)).body as Buffer;
    const line = `2026-10-20;${id};1;"Kue; lapis, ""legit""";1;1000;1000;settlement;0`;
    expect(bytes.toString()).toBe(`\uFEFF${HEADER.replaceAll(',', ';')}\r\n${line}\r\n`);
    expectInvalid(await admin.get('/api/admin/sales.csv?from=2026-10-20&to=2026-10-20&format=xls'), {
      format: 'format should be excel',
    });
  });

  it('contains each of 1,700 orders once, even if many were paid at the same instant', async () => {
    // About 600 orders share an instant, more than the service reads in one batch. The next instant is 1 µs later.
    await storeManyOrders({ count: 1_700, time: "n / 600 * interval '1 us'", products: 2 });
    const lines = (await getCsv('2026-10-20', '2026-10-20')).text.trimEnd().split('\r\n').slice(1);
    expect(lines).toHaveLength(3_400);
    expect(new Set(lines).size).toBe(3_400);
  });
});

describe('the stream of GET /api/admin/sales.csv', () => {
  async function openCsv(): Promise<IncomingMessage> {
    const request = get(`${service.url}/api/admin/sales.csv?from=2026-10-20&to=2026-10-21`, {
      agent: false,
      headers: { cookie: `accessToken=${admin.cookie('accessToken')}` },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    return response;
  }

  const findLogLine = ({ headers }: IncomingMessage) =>
    service.log.find(({ msg, requestId }) => msg === 'request' && requestId === headers['x-request-id']);

  it('ends without an error when the client aborts, and leaves no statement running', async () => {
    // 20 MB, more than the sockets can buffer.
    await storeManyOrders({ count: 20_000, name: '🥐'.repeat(255) });
    const response = await openCsv();
    await once(response, 'readable');
    response.destroy();
    const line = await until('the end of the request', () => findLogLine(response));
    expect(line).toMatchObject({ aborted: true });
    await until('the end of the last statement', async () => {
      const rows = await service.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND state <> 'idle' AND query LIKE '%order_items%'`,
      );
      return rows.length === 0;
    });
    expect(service.listErrors()).toEqual([]);
  });

  it('cuts the connection if a statement fails in the middle of the download, and logs the failure with the request id', async () => {
    await storeManyOrders({ count: 600 });
    // The sum of the last item, in the second batch, exceeds the range of a bigint.
    await storeOrder({ paidAt: '2026-10-21T10:00:00+02:00' });
    await service.database.query(
      `UPDATE order_items SET price = 9223372036854775807, quantity = 2 WHERE name = 'Product 1'`,
    );
    const response = await openCsv();
    response.resume();
    await expect(once(response, 'end')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(response.complete).toBe(false);
    await until('the log line', () => service.listErrors().length > 0);
    expect(service.listErrors()).toMatchObject([
      { msg: 'bigint out of range', requestId: response.headers['x-request-id'] },
    ]);
    // The service still responds.
    await getDay('2026-10-20');
  });
});
