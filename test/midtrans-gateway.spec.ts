import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { MidtransGateway } from '../src/gateway/midtrans.gateway.js';
import {
  GatewayRefusedError,
  GatewayUnavailableError,
  type TransactionRequest,
} from '../src/gateway/payment-gateway.js';
import { listenOnLoopback } from './support/loopback.js';
import {
  type MidtransFault,
  type MidtransOperation,
  MidtransStandIn,
  type MidtransStatus,
} from './support/midtrans-stand-in.js';
import { until } from './support/wait.js';

const KEY = 'SB-Mid-server-theKeyOfThisTest';
const WRONG_KEY = 'SB-Mid-server-anotherKey';
const DEADLINE_MS = 300;
/** Any half of a key, plain or as Basic authentication sends it. */
const SECRETS = [KEY, WRONG_KEY].flatMap((key) =>
  [key, Buffer.from(`${key}:`).toString('base64')].flatMap((text) => [
    text.slice(0, text.length / 2),
    text.slice(text.length / 2),
  ]),
);

describe('Midtrans gateway', () => {
  let standIn: MidtransStandIn;
  let gateway: MidtransGateway;
  let impatient: MidtransGateway;

  beforeEach(async () => {
    standIn = await MidtransStandIn.start({ serverKey: KEY });
    standIn.dripIntervalMs = 20;
    gateway = gatewayWith({});
    impatient = gatewayWith({ deadlineMs: DEADLINE_MS });
  });

  afterEach(async () => {
    await standIn.close();
  });

  function gatewayWith(options: Partial<ConstructorParameters<typeof MidtransGateway>[0]>): MidtransGateway {
    return new MidtransGateway({
      serverKey: KEY,
      snapUrl: standIn.snapUrl,
      apiUrl: standIn.apiUrl,
      // Generous where a test does not wait for it: the machine may be busy.
      deadlineMs: 10_000,
      ...options,
    });
  }

  function run(target: MidtransGateway, operation: MidtransOperation, id: string): Promise<unknown> {
    return operation === 'create' ? target.createTransaction(requestOf(id)) : target[operation](id);
  }

  /** An order id for which the operation would succeed. */
  function readyFor(operation: MidtransOperation): string {
    const id = randomUUID();
    if (operation === 'create') return id;
    standIn.open(id, 185_000);
    standIn.setStatus(id, 'pending');
    return id;
  }

  describe('opening a payment page', () => {
    it('sends Basic auth, integer amounts, items that add up, the customer and 24 hours, and answers the page', async () => {
      const request = requestOf();
      const before = Date.now();
      const page = await gateway.createTransaction(request);
      const order = standIn.order(request.orderId);
      expect(page).toEqual({
        token: order.token,
        redirectUrl: expect.stringContaining(order.token) as string,
      });
      expect(standIn.calls).toEqual([
        expect.objectContaining({ operation: 'create', authorized: true, status: 201 }),
      ]);
      expect(order.request).toEqual({
        transaction_details: { order_id: request.orderId, gross_amount: 185_000 },
        item_details: [
          { id: '7', name: 'Sourdough', price: 45_000, quantity: 3 },
          { id: '9', name: 'Croissant', price: 25_000, quantity: 2 },
        ],
        customer_details: { first_name: 'Sari Dewi', email: 'sari@example.com' },
        expiry: {
          start_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0700$/) as string,
          unit: 'hours',
          duration: 24,
        },
        page_expiry: { unit: 'hours', duration: 24 },
      });
      const { expiry } = order.request as { expiry: { start_time: string } };
      const startTime = Date.parse(expiry.start_time.replace(' ', 'T').replace(' +0700', '+07:00'));
      expect(startTime).toBeGreaterThan(before - 1_000);
      expect(startTime).toBeLessThanOrEqual(Date.now());
    });

    it.each([
      ['51 characters lose one', 'a'.repeat(51), 'a'.repeat(50)],
      ['a pair across the limit goes whole', `${'a'.repeat(49)}🥐`, 'a'.repeat(49)],
      ['a vertical line, which some methods fail on, becomes a slash', 'Rye | Spelt', 'Rye / Spelt'],
    ])('item names: %s', async (_what, name, sent) => {
      const request = requestOf();
      const [item] = request.items;
      if (item === undefined) throw new Error('no item');
      await gateway.createTransaction({
        ...request,
        grossAmount: item.price * item.quantity,
        items: [{ ...item, name }],
      });
      expect(standIn.order(request.orderId).request).toMatchObject({ item_details: [{ name: sent }] });
    });

    it('a repeated order id is refused, and the message says why', async () => {
      const request = requestOf();
      await gateway.createTransaction(request);
      const error = await failureOf(gateway.createTransaction(request), GatewayRefusedError);
      expect(error.message).toBe('Midtrans create: 400 transaction_details.order_id has already been taken');
      expect(error).toHaveProperty('isOrderIdTaken', true);
      expect(standIn.callsOf('create').at(-1)?.status).toBe(400);
    });

    it.each<[string, Partial<TransactionRequest>, string]>([
      ['an amount that is not the sum', { grossAmount: 185_001 }, 'sum of item_details'],
      ['no e-mail address', { customer: { fullname: 'Sari', email: '' } }, 'email format is invalid'],
    ])('is refused with %s', async (_what, change, reason) => {
      const call = gateway.createTransaction({ ...requestOf(), ...change });
      const error = await failureOf(call, GatewayRefusedError);
      expect(error.message).toContain(reason);
      expect(error).toHaveProperty('isOrderIdTaken', false);
      expect(standIn.orders.size).toBe(0);
    });

    it('says that the server key was not accepted, and does not repeat it', async () => {
      const call = gatewayWith({ serverKey: WRONG_KEY }).createTransaction(requestOf());
      const error = await failureOf(call, GatewayRefusedError);
      expect(error.message).toContain('the server key was not accepted');
      expect(error).toHaveProperty('isOrderIdTaken', false);
      expect(standIn.calls.at(-1)).toMatchObject({ authorized: false, status: 401 });
    });

    it('does not repeat a server key that a refusal repeats', async () => {
      const basic = Buffer.from(`${KEY}:`).toString('base64');
      standIn.fault({
        operation: 'create',
        kind: 'answer',
        status: 400,
        body: { error_messages: [`unknown Merchant ${KEY}`, `Basic ${basic}`, 7, 'x'.repeat(10_000)] },
      });
      const error = await failureOf(gateway.createTransaction(requestOf()), GatewayRefusedError);
      expect(error.message).toContain('unknown Merchant ***; Basic ***; xxx');
      expect(error.message.length).toBeLessThan(400);
    });

    it.each<[string, number, string | object]>([
      ['429, Snap refusing for now', 429, { error_messages: ['Too many requests'] }],
      ['403 from something that is not Snap', 403, '<html>Forbidden</html>'],
      ['200 with a page', 200, { token: 't', redirect_url: 'https://example.com/' }],
      ['201 with half an object', 201, '{"token":"t"'],
      ['201 without a token', 201, { redirect_url: 'https://example.com/' }],
      ['201 with a script', 201, { token: 't', redirect_url: 'javascript:alert(1)' }],
      ['201 with an endless address', 201, { token: 't', redirect_url: `https://a/${'b'.repeat(2048)}` }],
    ])('is unavailable when the answer is %s', async (_what, status, body) => {
      standIn.fault({ operation: 'create', kind: 'answer', status, body });
      await failureOf(gateway.createTransaction(requestOf()), GatewayUnavailableError);
    });

    it('keeps to a shorter deadline given for the call, and to its own against a longer one', async () => {
      standIn.fault({ operation: 'create', kind: 'hang' });
      const short = gateway.createTransaction(requestOf(), DEADLINE_MS);
      expect((await failureOf(short, GatewayUnavailableError)).message).toContain(`within ${DEADLINE_MS} ms`);
      const long = impatient.createTransaction(requestOf(), 60_000);
      expect((await failureOf(long, GatewayUnavailableError)).message).toContain(`within ${DEADLINE_MS} ms`);
    });

    it('sends nothing when no time is left', async () => {
      await failureOf(gateway.createTransaction(requestOf(), 0), GatewayUnavailableError);
      expect(standIn.acceptedConnections).toBe(0);
    });
  });

  describe.each([
    ['200, as the real one mostly answers', false],
    ['the code of the body', true],
  ])('asking for and changing a payment, with HTTP status %s', (_what, httpStatusFollowsCode) => {
    beforeEach(() => {
      standIn.httpStatusFollowsCode = httpStatusFollowsCode;
    });

    it('the status is null until a method is chosen, and for an unknown order id', async () => {
      const id = randomUUID();
      expect(await gateway.status(id)).toBeNull();
      await gateway.createTransaction(requestOf(id));
      expect(await gateway.status(id)).toBeNull();
      expect(await gateway.cancel(id)).toBeNull();
      expect(await gateway.expire(id)).toBeNull();
    });

    it.each<[MidtransStatus, string]>([
      ['settlement', '200'],
      ['pending', '201'],
      ['expire', '407'],
    ])('the status %s is told with its code %s', async (status, code) => {
      const id = readyFor('status');
      const { transactionId } = standIn.setStatus(id, status, { paymentType: 'credit_card' });
      const transaction = await gateway.status(id);
      expect(transaction).toEqual({
        transactionId,
        transactionStatus: status,
        statusCode: code,
        grossAmount: '185000.00',
        paymentType: 'credit_card',
        fraudStatus: 'accept',
        payload: expect.stringContaining('"masked_card"') as string,
      });
      expect(JSON.parse(transaction?.payload ?? '')).toMatchObject({
        order_id: id,
        transaction_status: status,
      });
      expect(standIn.calls.at(-1)?.authorized).toBe(true);
    });

    it('fraud_status may be missing, and order_id may be the transaction id', async () => {
      const id = readyFor('status');
      standIn.answersTransactionIdAsOrderId = true;
      const { transactionId } = standIn.settle(id, { paymentType: 'cstore', fraudStatus: null });
      const transaction = await gateway.status(id);
      expect(transaction).toMatchObject({
        transactionStatus: 'settlement',
        transactionId,
        fraudStatus: null,
      });
      expect(JSON.parse(transaction?.payload ?? '')).toMatchObject({ order_id: transactionId });
    });

    it.each(['cancel', 'expire'] as const)('can %s a pending payment', async (operation) => {
      const id = readyFor(operation);
      expect(await gateway[operation](id)).toMatchObject({
        transactionStatus: operation,
        statusCode: operation === 'cancel' ? '200' : '407',
        fraudStatus: 'accept',
      });
      expect(standIn.order(id).transactions.at(-1)?.status).toBe(operation);
    });

    it.each(['cancel', 'expire'] as const)(
      'is refused to %s a settled payment, which stays',
      async (operation) => {
        const id = readyFor(operation);
        standIn.settle(id);
        await failureOf(gateway[operation](id), GatewayRefusedError);
        expect(await gateway.status(id)).toMatchObject({ transactionStatus: 'settlement' });
      },
    );

    it.each(['status', 'cancel', 'expire'] as const)(
      'calls it unavailable, never unknown or final, when the key is not accepted for %s',
      async (operation) => {
        const id = readyFor(operation);
        const error = await failureOf(
          gatewayWith({ serverKey: WRONG_KEY })[operation](id),
          GatewayUnavailableError,
        );
        expect(error.message).toContain('the server key was not accepted');
        expect(standIn.order(id).transactions.at(-1)?.status).toBe('pending');
      },
    );
  });

  it.each(['a/../../v1/b', 'a?b=c#d', 'a b%2Fc'])(
    'the id %p arrives as one segment of the path',
    async (id) => {
      standIn.open(id, 185_000);
      standIn.setStatus(id, 'pending');
      for (const operation of ['status', 'cancel', 'expire'] as const) {
        await gateway[operation](id).catch(() => null); // Expiring what was just cancelled is refused.
        expect(standIn.calls.at(-1)).toMatchObject({ operation, orderId: id });
      }
    },
  );

  const GOOD = {
    status_code: '200',
    transaction_id: 't',
    transaction_status: 'cancel',
    gross_amount: '185000.00',
    payment_type: 'qris',
  };

  describe.each(['status', 'cancel'] as const)('an unusable answer to %s', (operation) => {
    it.each<[string, number, string | object]>([
      ['404 from something that is not the Core API', 404, '<html>Not Found</html>'],
      ['500 with a code that says otherwise', 500, GOOD],
      ['200 with the code 500', 200, { ...GOOD, status_code: '500' }],
      ['200 without a code', 200, { ...GOOD, status_code: undefined }],
      ['200 without a transaction id', 200, { ...GOOD, transaction_id: undefined }],
      ['200 with a number for an amount', 200, { ...GOOD, gross_amount: 185_000 }],
      ['200 with U+0000 in a field', 200, { ...GOOD, payment_type: 'a\0b' }],
    ])('%s is unavailable', async (_what, status, body) => {
      standIn.fault({ operation, kind: 'answer', status, body });
      await failureOf(gateway[operation](randomUUID()), GatewayUnavailableError);
    });

    it('is none when only fraud_status is null or missing', async () => {
      standIn.fault({ operation, kind: 'answer', nth: 1, status: 200, body: GOOD });
      standIn.fault({
        operation,
        kind: 'answer',
        nth: 2,
        status: 200,
        body: { ...GOOD, fraud_status: null },
      });
      expect(await gateway[operation]('a')).toMatchObject({ fraudStatus: null });
      expect(await gateway[operation]('a')).toMatchObject({ fraudStatus: null });
    });
  });

  describe.each<MidtransOperation>(['create', 'cancel'])('when the call %s meets trouble', (operation) => {
    it.each<[string, MidtransFault]>([
      ['hang', { operation, kind: 'hang' }],
      ['drip', { operation, kind: 'drip' }],
      ['late', { operation, kind: 'late', afterMs: 60_000 }],
    ])('%s: it is unavailable at the deadline and closes the connection', async (_kind, fault) => {
      const id = readyFor(operation);
      standIn.fault(fault);
      const startedAt = performance.now();
      const error = await failureOf(run(impatient, operation, id), GatewayUnavailableError);
      const elapsedMs = performance.now() - startedAt;
      expect(error.message).toBe(`Midtrans ${operation}: no complete answer within ${DEADLINE_MS} ms`);
      expect(elapsedMs).toBeGreaterThan(DEADLINE_MS - 10);
      expect(elapsedMs).toBeLessThan(DEADLINE_MS + 2_000);
      await until('the connection is closed', () => standIn.callsInProgress === 0, 2_000);
    });

    it.each<MidtransFault['kind'] & ('down' | 'error' | 'answer-lost' | 'cut' | 'garbage')>([
      'down',
      'error',
      'answer-lost',
      'cut',
      'garbage',
    ])('%s: it is unavailable at once, without a second try, and serves the next call', async (kind) => {
      standIn.fault({ operation, nth: 1, kind });
      await failureOf(run(gateway, operation, readyFor(operation)), GatewayUnavailableError);
      expect(standIn.calls).toHaveLength(1);
      await run(gateway, operation, readyFor(operation));
      expect(standIn.calls.map(({ fault }) => fault)).toEqual([kind, null]);
    });

    it('an answer of more than 64 KiB is not read on, and the connection is closed', async () => {
      standIn.fault({ operation, kind: 'answer', status: 200, body: ' '.repeat(8 * 1024 * 1024) });
      const error = await failureOf(run(gateway, operation, readyFor(operation)), GatewayUnavailableError);
      expect(error.message).toBe(`Midtrans ${operation}: the answer exceeds 65536 bytes`);
      await until('the connection is closed', () => standIn.callsInProgress === 0, 2_000);
    });

    it('a redirect is not followed', async () => {
      const requests: string[] = [];
      const elsewhere = createServer((request, response) => {
        requests.push(request.url ?? '');
        response.end();
      });
      const location = `http://127.0.0.1:${await listenOnLoopback(elsewhere)}/`;
      standIn.fault({ operation, kind: 'answer', status: 307, body: '', headers: { location } });
      const outcome = failureOf(run(gateway, operation, readyFor(operation)), GatewayUnavailableError);
      await outcome.finally(() => {
        elsewhere.close();
        elsewhere.closeAllConnections();
      });
      expect(requests).toEqual([]);
    });

    it('while the gateway is down it is unavailable, and works when it is back', async () => {
      const id = readyFor(operation);
      await standIn.down();
      const error = await failureOf(run(gateway, operation, id), GatewayUnavailableError);
      expect(error.message).toBe(`Midtrans ${operation}: connection failed (ECONNREFUSED)`);
      await standIn.up();
      await run(gateway, operation, id);
    });
  });

  it('cancels once: what an answer lost on the way left undecided, the status tells', async () => {
    const id = readyFor('cancel');
    standIn.fault({ operation: 'cancel', nth: 1, kind: 'answer-lost' });
    await failureOf(gateway.cancel(id), GatewayUnavailableError);
    await failureOf(gateway.cancel(id), GatewayRefusedError);
    expect(await gateway.status(id)).toMatchObject({ transactionStatus: 'cancel' });
  });

  it('keeps connections for the next calls, and takes a new one when the gateway has closed them', async () => {
    const id = readyFor('status');
    for (let call = 0; call < 20; call += 1) await gateway.status(id);
    expect(standIn.acceptedConnections).toBeLessThanOrEqual(2);
    await standIn.down();
    await standIn.up();
    // One that is called before it is seen to be closed fails like any other.
    await until('a call succeeds', () => gateway.status(id).catch(() => false));
  });

  it('shows nothing of its key when it is printed or serialized', () => {
    expectNoSecret(gateway);
  });
});

function requestOf(orderId: string = randomUUID()): TransactionRequest {
  return {
    orderId,
    grossAmount: 185_000,
    items: [
      { id: '7', name: 'Sourdough', price: 45_000, quantity: 3 },
      { id: '9', name: 'Croissant', price: 25_000, quantity: 2 },
    ],
    customer: { fullname: 'Sari Dewi', email: 'sari@example.com' },
  };
}

/** The error of a call that fails; whatever it is, it must hold nothing of a key. */
async function failureOf<T extends Error>(
  call: Promise<unknown>,
  type: new (message: string) => T,
): Promise<T> {
  const error: unknown = await call.then(
    (answer) => new Error(`expected ${type.name}, got ${inspect(answer)}`),
    (reason: unknown) => reason,
  );
  expectNoSecret(error);
  if (!(error instanceof type)) throw error;
  expect(error.name).toBe(type.name);
  expect(error.cause).toBeUndefined();
  return error;
}

function expectNoSecret(value: unknown): void {
  const printed =
    inspect(value, { depth: Infinity, showHidden: true, getters: true }) + String(JSON.stringify(value));
  for (const secret of SECRETS) expect(printed).not.toContain(secret);
}
