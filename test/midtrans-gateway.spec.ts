import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { MidtransGateway } from '../src/gateway/midtrans.gateway.js';
import {
  GatewayRejectedError,
  GatewayUnavailableError,
  type PaymentPageRequest,
} from '../src/gateway/payment-gateway.js';
import { measureRunning } from './support/measure.js';
import { MidtransStandIn } from './support/midtrans-stand-in.js';
import { until } from './support/wait.js';

const KEY = 'SB-Mid-server-theKeyOfThisTest';
const BASIC = Buffer.from(`${KEY}:`).toString('base64');
/** Halves of the key, in plain text and as in the Authorization header. */
const SECRETS = [KEY, BASIC].flatMap((text) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]);
const DEADLINE_MS = 300;

const REQUEST: PaymentPageRequest = {
  attemptId: randomUUID(),
  grossAmount: 185_000,
  items: [{ id: '7', name: 'Sourdough', price: 185_000, quantity: 1 }],
  customer: { fullname: 'Sari Dewi', email: 'sari@example.com' },
  expiresAt: new Date(Date.now() + 60 * 60 * 1000),
};
const REFUND = { refundKey: 'key', amount: 50_000, reason: null };
/** Valid response to `create`. */
const PAGE = { token: 't', redirect_url: 'https://example.com/' };
const VALID_STATUS = {
  status_code: '200',
  transaction_id: 't',
  transaction_status: 'cancel',
  gross_amount: '185000.00',
  payment_type: 'qris',
};
const OTHER_PAYMENT = { ...VALID_STATUS, order_id: randomUUID(), transaction_status: 'refund' };

let standIn: MidtransStandIn;
let gateway: MidtransGateway;
let impatientGateway: MidtransGateway;

beforeEach(async () => {
  standIn = await MidtransStandIn.start({ serverKey: KEY });
  const { snapUrl, apiUrl } = standIn;
  const settings = { midtransServerKey: KEY, midtransSnapUrl: snapUrl, midtransApiUrl: apiUrl };
  gateway = new MidtransGateway(settings, 10_000);
  impatientGateway = new MidtransGateway(settings, DEADLINE_MS);
});

describe('openPaymentPage', () => {
  it('accepts a page that Snap returns with 200 instead of 201', async () => {
    standIn.addFault({ operation: 'create', kind: 'response', status: 200, body: PAGE });
    const page = { token: PAGE.token, redirectUrl: PAGE.redirect_url };
    expect(await gateway.openPaymentPage(REQUEST)).toEqual(page);
  });

  it.each([
    ['in 89 minutes and 40 seconds', 89 * 60 + 40, 90],
    ['sooner than Snap allows', 60, 5],
  ])(
    'lets the page and its payments expire after whole minutes if it ends %s',
    async (_what, seconds, duration) => {
      const expiresAt = new Date(Date.now() + seconds * 1000);
      await gateway.openPaymentPage({ ...REQUEST, expiresAt });
      const lifetime = { unit: 'minutes', duration };
      expect(standIn.calls[0]?.body).toMatchObject({ expiry: lifetime, page_expiry: lifetime });
    },
  );
});

it.each<['create' | 'status' | 'refund', string, number, string | object]>([
  ['create', '429 from Snap', 429, { error_messages: ['Too many requests'] }],
  ['create', '400 without a reason', 400, { error_messages: [] }],
  ['create', '201 without a token', 201, { ...PAGE, token: undefined }],
  ['create', '201 with a script as the address', 201, { ...PAGE, redirect_url: 'javascript:alert(1)' }],
  ['status', '500 with another status code in the body', 500, VALID_STATUS],
  ['status', '200 with the status code 500 in the body', 200, { ...VALID_STATUS, status_code: '500' }],
  ['status', '200 without a status code in the body', 200, { ...VALID_STATUS, status_code: undefined }],
  ['status', '200 without a transaction id', 200, { ...VALID_STATUS, transaction_id: undefined }],
  ['status', '200 with U+0000 in a field', 200, { ...VALID_STATUS, transaction_id: 'a\0b' }],
  ['status', '200 about another payment', 200, OTHER_PAYMENT],
  ['refund', '200 about another payment', 200, OTHER_PAYMENT],
  // A rejected refund is final, so a temporary failure must not count as a rejection.
  ['refund', '408', 408, { status_code: '408' }],
  ['refund', '429', 429, { status_code: '429' }],
])(
  'the operation "%s" throws GatewayUnavailableError if the response is %s',
  async (operation, _what, status, body) => {
    standIn.addFault({ operation, kind: 'response', status, body });
    const calls = {
      create: () => gateway.openPaymentPage(REQUEST),
      status: () => gateway.getTransaction(randomUUID()),
      refund: () => gateway.refund(randomUUID(), REFUND),
    };
    await catchError(calls[operation](), GatewayUnavailableError);
  },
);

it.each(['202', '404', '412', '499'])(
  'a refund is rejected if the status code is %s',
  async (status_code) => {
    standIn.addFault({ operation: 'refund', kind: 'response', status: 200, body: { status_code } });
    await catchError(gateway.refund(randomUUID(), REFUND), GatewayRejectedError);
  },
);

it('a rejected refund has the reason of the gateway, shortened and without the server key', async () => {
  const body = { status_code: '412', status_message: `not with ${KEY} or ${BASIC}${'!'.repeat(500)}` };
  standIn.addFault({ operation: 'refund', kind: 'response', status: 200, body });
  const { reason } = await catchError(gateway.refund(randomUUID(), REFUND), GatewayRejectedError);
  expect(reason).toMatch(/^not with \*{3} or \*{3}!{281}$/);
});

describe('a call', () => {
  const operation = 'cancel';
  const attemptId = randomUUID();

  it.each([
    ['cancel', 'does not arrive', 'hang', () => impatientGateway.cancelOrExpire(attemptId, operation)],
    ['cancel', 'arrives byte by byte', 'drip', () => impatientGateway.cancelOrExpire(attemptId, operation)],
    ['create', 'does not arrive', 'hang', () => impatientGateway.openPaymentPage(REQUEST)],
  ] as const)(
    '(%s) fails at the deadline and closes the connection if the response %s',
    async (name, _fault, kind, call) => {
      standIn.addFault({ operation: name, kind });
      const { result: error, runningMs } = await measureRunning(() =>
        catchError<GatewayUnavailableError>(call(), GatewayUnavailableError),
      );
      expect(runningMs).toBeLessThan(DEADLINE_MS + 2_000);
      expect(error.message).toBe(`Midtrans ${name}: no complete response within ${DEADLINE_MS} ms`);
      await until('the connection is closed', () => standIn.openConnections === 0);
    },
  );

  it('reads at most 64 KiB of a response', async () => {
    standIn.addFault({ operation, kind: 'response', status: 200, body: ' '.repeat(8 * 1024 * 1024) });
    const call = gateway.cancelOrExpire(attemptId, operation);
    const { message } = await catchError(call, GatewayUnavailableError);
    expect(message).toBe('Midtrans cancel: the response exceeds 65536 bytes');
    await until('the connection is closed', () => standIn.openConnections === 0);
  });

  it('does not follow a redirect', async () => {
    const headers = { location: `${standIn.apiUrl}/v2/elsewhere/cancel` };
    standIn.addFault({ operation, nth: 1, kind: 'response', status: 307, body: '', headers });
    await catchError(gateway.cancelOrExpire(attemptId, operation), GatewayUnavailableError);
    expect(standIn.calls).toHaveLength(1);
  });
});

it('a printed or serialized gateway does not reveal the server key', () => {
  expectNoSecret(gateway);
});

/** Returns the error of a call that must fail, with this type, without a cause and without either half of the key. */
async function catchError<T extends Error>(call: Promise<unknown>, type: new (message: string) => T) {
  const error: unknown = await call.then(
    (response) => new Error(`expected ${type.name}, got ${inspect(response)}`),
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
