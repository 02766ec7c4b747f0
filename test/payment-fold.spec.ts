import fc from 'fast-check';
import { TRANSACTION_STATUSES } from '../src/gateway/payment-gateway.js';
import { NO_TRANSACTION } from '../src/orders/order-status.js';
import { Order } from '../src/orders/order.entity.js';
import { applyEvent, computeOrderColumns, foldHistory } from '../src/payments/payment.js';
import { PaymentEvent } from '../src/payments/payment-event.entity.js';

const TOTAL = 370_000;
const PAGE = '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11';
const LATER_PAGE = '0b0c2a3e-8a55-4c42-9df5-1b7f1a0f7a22';

function buildOrder(): Order {
  return Object.assign(new Order(), {
    orderId: PAGE,
    grossAmount: TOTAL,
    createdAt: new Date('2026-11-20T03:00:00Z'),
  });
}

/**
 * Parses one payment event, for example `T1 settlement`, `T1 capture/challenge`, `T1 partial_refund=50000`, `T1 manual=50000`,
 * `T2@later pending` (on a later payment page) or `- cancel` (the service ends the order).
 */
function parse(text: string, position: number): PaymentEvent {
  const parts = /^(T\d|-)(@later)? ([a-z_]+)(?:\/(\w+))?(?:=(\d+))?$/.exec(text);
  if (parts === null) throw new Error(`not a payment event: ${text}`);
  const [, id = '', page, name = '', fraud = 'accept', amount] = parts;
  if (name !== 'manual' && !TRANSACTION_STATUSES.some((known) => known === name))
    throw new Error(`no status: ${name}`);
  const isManual = name === 'manual';
  const attemptId = page === undefined ? PAGE : LATER_PAGE;
  return Object.assign(new PaymentEvent(), {
    id: String(position),
    source: isManual ? 'refund' : id === '-' ? 'cancellation' : 'notification',
    outcome: 'applied',
    attemptId: id === '-' ? null : attemptId,
    transactionId: id === '-' ? null : id,
    status: isManual ? 'partial_refund' : name,
    statusCode: '200',
    grossAmount: `${TOTAL}.00`,
    fraudStatus: id === '-' ? null : fraud,
    refundAmount: isManual || amount === undefined ? null : Number(amount),
    payload: JSON.stringify({ payment_type: id, ...(isManual && { manual: true, amount: Number(amount) }) }),
    receivedAt: new Date(Date.UTC(2026, 10, 20, 4, 0, position)),
  });
}

function fold(history: readonly string[], newest = PAGE) {
  const order = buildOrder();
  const payment = foldHistory(order, history.map(parse));
  const columns = computeOrderColumns(order, payment, newest);
  return { payment, columns, order: Object.assign(order, columns) };
}

/** Returns the outcome of the last event. */
function decideLast(events: readonly PaymentEvent[]) {
  const order = buildOrder();
  const last = events.at(-1);
  return last && applyEvent(order, foldHistory(order, events.slice(0, -1)), last).outcome;
}

/** Summarizes the payment of an order, for example `T2 settlement` or `- pending, surplus 370000`. */
function describePayment(text: string, newest?: string): string {
  const { columns } = fold(text.split(', '), newest);
  const { transactionId, status, refundedAmount, surplusAmount } = columns;
  return [
    `${transactionId ?? '-'} ${status}`,
    ...(refundedAmount > 0 ? [`refunded ${refundedAmount}`] : []),
    ...(surplusAmount > 0 ? [`surplus ${surplusAmount}`] : []),
  ].join(', ');
}

it('the payment type and the time of payment that version 1.2 stored stay if the history lacks them', () => {
  const stored = { paymentType: 'qris', completedAt: new Date('2026-11-20T03:59:59.990Z') };
  const order = Object.assign(buildOrder(), { ...stored, status: 'settlement', transactionId: 'T1' });
  const history = [Object.assign(parse('T1 settlement', 0), { payload: '{}' })];
  expect(computeOrderColumns(order, foldHistory(order, history), PAGE)).toMatchObject(stored);
  const other = Object.assign(order, { transactionId: 'T0' });
  expect(computeOrderColumns(other, foldHistory(other, history), PAGE)).toMatchObject({ paymentType: null });
});

it('a refund that version 1.2 stored with a smaller sum does not take back what the gateway has returned', () => {
  const manual = {
    source: 'refund',
    refundAmount: 0,
    payload: JSON.stringify({ manual: true, amount: 320_000 }),
  };
  const history = ['T1 settlement', 'T1 partial_refund=50000', 'T1 refund'].map(parse);
  Object.assign(history[2] ?? {}, manual);
  const order = buildOrder();
  expect(computeOrderColumns(order, foldHistory(order, history), PAGE)).toMatchObject({
    status: 'refund',
    refundedAmount: TOTAL,
  });
});

it('an order without transactions has the columns that a new payment page sets', () => {
  expect(fold([]).columns).toMatchObject(NO_TRANSACTION);
});

describe('one transaction', () => {
  it.each([
    ['T1 pending, T1 authorize, T1 capture/challenge, T1 capture, T1 settlement', 'T1 settlement'],
    ['T1 settlement, T1 pending', 'T1 settlement'],
    ['T1 settlement, T1 capture', 'T1 settlement'],
    ['T1 capture, T1 capture/deny', 'T1 capture'],
    ['T1 settlement, T1 deny', 'T1 deny'],
    ['T1 settlement, T1 deny, T1 settlement', 'T1 deny'], // a redelivery, whatever happened in between
    ['T1 deny, T1 expire', 'T1 deny'],
    ['T1 deny, T1 pending', 'T1 deny'],
    ['T1 deny, T1 capture/challenge', 'T1 deny'],
    ['T1 expire, T1 settlement', 'T1 settlement'],
    ['T1 settlement, T1 partial_refund=50000', 'T1 partial_refund, refunded 50000'],
    ['T1 partial_refund=50000, T1 partial_refund=20000', 'T1 partial_refund, refunded 50000'],
    ['T1 partial_refund=50000, T1 settlement, T1 deny', 'T1 partial_refund, refunded 50000'],
    ['T1 settlement, T1 manual=50000, T1 partial_refund=50000', 'T1 partial_refund, refunded 100000'],
    ['T1 refund, T1 cancel', 'T1 refund, refunded 370000'],
    ['T1 cancel, T1 refund', 'T1 refund, refunded 370000'],
  ])('%s: the payment is %s', (history, expected) => {
    expect(describePayment(history)).toBe(expected);
  });

  it.each([
    ['T1 pending, T1 deny', 'applied'],
    ['T1 settlement, T1 pending', 'late'],
    ['T1 settlement, T1 pending, T1 pending', 'duplicate'],
    ['T1 partial_refund=50000, T1 partial_refund=20000', 'late'],
    ['T1 partial_refund=50000, T1 partial_refund=70000', 'applied'],
    ['T1 partial_refund=50000, T1 refund, T1 partial_refund=50000', 'duplicate'],
    ['T1 refund, T1 partial_refund=50000', 'late'],
    ['T1 settlement, T1 deny, T1 settlement', 'duplicate'],
  ])('%s: the last event is %s', (history, expected) => {
    expect(decideLast(history.split(', ').map(parse))).toBe(expected);
  });

  it.each([
    ['T1 capture/challenge', 'applied'],
    ['T1 capture', 'duplicate'],
  ])(
    'a notification that was unconfirmed and then followed by %s is %s if it is repeated',
    (confirmed, expected) => {
      const events = ['T1 capture', confirmed, 'T1 capture'].map(parse);
      Object.assign(events[0] ?? {}, { outcome: 'unconfirmed' });
      Object.assign(events[1] ?? {}, { source: 'reconciliation' });
      expect(decideLast(events)).toBe(expected);
    },
  );
});

describe('several transactions', () => {
  it.each([
    ['T1 settlement, T2 settlement', 'T1 settlement, surplus 370000'],
    ['T1 settlement, T2 settlement, T2 manual=50000', 'T1 settlement, surplus 320000'],
    ['T1 settlement, T2 settlement, T1 deny', 'T2 settlement'],
    ['T1 settlement, T2 settlement, T1 deny, T1 settlement/challenge', 'T2 settlement, surplus 370000'],
    ['T1 settlement, T2 settlement, T1 refund', 'T2 settlement'],
    ['T1 settlement, T1 refund, T2 settlement, T2 refund', 'T2 refund, refunded 370000'],
    [
      'T1 settlement, T1 partial_refund=370000, T2 settlement, T2 refund, T1 refund',
      'T2 refund, refunded 370000',
    ],
    ['T1 refund, T2 deny', 'T1 refund, refunded 370000'],
    ['T1 pending, T2 deny', 'T1 pending'],
    ['T1 deny, T2 expire', 'T2 expire'],
    ['T1 deny, T2 capture/challenge', 'T2 capture'],
    ['T1 pending, - cancel', 'T1 cancel'],
    ['T1 cancel, - cancel, T2 deny', 'T2 cancel'],
    ['- cancel, T1 settlement', 'T1 settlement'],
    ['- cancel, T1 settlement, T1 deny', 'T1 deny'],
  ])('%s: the payment is %s', (history, expected) => {
    expect(describePayment(history)).toBe(expected);
  });

  it.each([
    ['T1 deny', '- pending'],
    ['T1 pending', '- pending'],
    ['T1 settlement', 'T1 settlement'],
    ['T1 deny, T2@later pending', 'T2 pending'],
  ])('%s: with a newer payment page the payment is %s', (history, expected) => {
    expect(describePayment(history, LATER_PAGE)).toBe(expected);
  });
});

it.each(['cancellation', 'reconciliation'])(
  'the notification of a failure that an event with the source %s has reported does not undo a later payment',
  (source) => {
    const reported = Object.assign(parse('T1 expire', 1), { source, statusCode: '407' });
    const events = [parse('T1 pending', 0), reported, parse('T1 settlement', 2), parse('T1 expire', 3)];
    expect(decideLast(events)).toBe('duplicate');
    const others = [parse('T1 pending', 0), reported, parse('T1 settlement', 2), parse('T1 deny', 3)];
    expect(decideLast(others)).toBe('applied');
  },
);

it.each([
  ['2026-11-20 17:05:12', '20261120T110512Z'],
  ['2026-11-20T17:05:12', '2026-11-20T17:05:13+07:00'],
])('a transaction that started at %s is older than one that started at %s', (first, second) => {
  const events = ['T1 pending', 'T2 pending'].map(parse);
  for (const [event, transaction_time] of [[events[0], second] as const, [events[1], first] as const])
    Object.assign(event ?? {}, { payload: JSON.stringify({ transaction_time }) });
  const order = buildOrder();
  expect(computeOrderColumns(order, foldHistory(order, events), PAGE).transactionId).toBe('T1');
});

it('the end of one transaction ends the order only if no other transaction can be paid', () => {
  const cancel = (text: string, position: number) =>
    Object.assign(parse(text, position), { source: 'cancellation' });
  const history = [
    parse('T1 pending', 0),
    parse('T2 authorize', 1),
    cancel('T1 cancel', 2),
    cancel('T2 cancel', 3),
  ];
  expect(foldHistory(buildOrder(), history.slice(0, 3)).endedAs).toBeNull();
  expect(foldHistory(buildOrder(), history).endedAs).toBe('cancel');
  // An order that version 1.2 cancelled, whose events name no attempt, stays cancelled.
  const ofVersion12 = history.slice(0, 3).map((event) => Object.assign(event, { attemptId: null }));
  expect(foldHistory(buildOrder(), ofVersion12).endedAs).toBe('cancel');
});

describe('a random history', () => {
  const notifications = fc
    .tuple(
      fc.constantFrom('T1', 'T2', 'T3@later', 'T4@later'),
      fc.constantFrom(
        ...['pending', 'authorize', 'capture/challenge', 'capture/deny', 'capture', 'settlement', 'deny'],
        ...['cancel', 'expire', 'failure', 'partial_refund=50000', 'partial_refund=90000', 'refund'],
      ),
    )
    .map(([id, event]) => `${id} ${event}`);
  const ownEvents = fc.constantFrom('- cancel', '- expire', 'T1 manual=50000', 'T3@later manual=90000');
  const events = fc.oneof({ arbitrary: notifications, weight: 8 }, { arbitrary: ownEvents, weight: 1 });
  const pages = fc.constantFrom(PAGE, LATER_PAGE);

  it('leaves an order paid exactly while it holds money, counts money once, and ignores redeliveries', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 25 }), pages, (history, newest) => {
        const { payment, columns, order } = fold(history, newest);
        const held = payment.transactions.filter(({ holdsMoney }) => holdsMoney);
        expect(order.isPaid).toBe(held.length > 0);
        const money = held.reduce((sum, { refundedAmount }) => sum + TOTAL - refundedAmount, 0);
        const counted = order.isPaid ? TOTAL - columns.refundedAmount : 0;
        expect(counted + columns.surplusAmount).toBe(money);
        const redelivered = history.filter((event) => !/^-|manual/.test(event));
        expect(fold([...history, ...redelivered], newest).columns).toEqual(columns);
      }),
      { numRuns: 500 },
    );
  });
});
