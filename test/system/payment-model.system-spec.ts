import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { PaymentEvent } from '../../src/payments/payment-event.js';
import type { CancellationService } from '../../src/payments/cancellation.service.js';
import type { PaymentEventsService } from '../../src/payments/payment-events.service.js';
import type { PaymentsService } from '../../src/payments/payments.service.js';
import type { DataSource } from 'typeorm';
import { built } from '../support/built.js';
import { notification, type Notification } from '../support/notifications.js';
import { startService, type TestService } from '../support/service.js';

/** Side by side, so that the database has something to do while the others think. */
const LANES = 5;
const RUNS_PER_LANE = 400;

const STATUSES = [
  'capture',
  'settlement',
  'pending',
  'deny',
  'cancel',
  'expire',
  'failure',
  'refund',
  'partial_refund',
  'authorize',
] as const;
type Status = (typeof STATUSES)[number];

/** What is said of a transaction. The third one belongs to the order's later payment attempt, if it has one. */
interface Saying {
  readonly transaction: 0 | 1 | 2;
  readonly status: Status;
  readonly code: string;
  readonly amount: string;
  readonly fraud: string;
}

type Step =
  | { readonly kind: 'notify' | 'reconcile' | 'confirm cancellation'; readonly saying: Saying }
  /** Sends an earlier notification again, if there is one. */
  | { readonly kind: 'redeliver'; readonly which: number }
  /** Well signed, but without fraud_status; or not well signed. */
  | { readonly kind: 'reject' | 'forge'; readonly saying: Saying }
  /** The customer cancels; the gateway knows of no transaction. */
  | { readonly kind: 'cancel' };

interface Run {
  readonly attempts: 1 | 2;
  readonly steps: readonly Step[];
}

/** A line of the history that is expected. */
interface Line {
  readonly source: string;
  readonly outcome: string;
  readonly saying: Saying | null;
  readonly status: Status | null;
}

const saying: fc.Arbitrary<Saying> = fc.record({
  transaction: fc.constantFrom(0 as const, 0 as const, 1 as const, 2 as const),
  // Those that matter most more often.
  status: fc.constantFrom(...STATUSES, 'settlement', 'settlement', 'capture', 'pending', 'expire'),
  code: fc.constantFrom('200', '200', '200', '202'),
  amount: fc.constantFrom('185000.00', '185000.00', '185000.00', '1.00'),
  fraud: fc.constantFrom('accept', 'accept', 'accept', 'deny'),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('notify' as const), saying }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('redeliver' as const), which: fc.nat(7) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reconcile' as const), saying }) },
  {
    weight: 1,
    arbitrary: saying.map((said) => ({
      kind: 'confirm cancellation' as const,
      saying: { ...said, status: 'cancel' as const },
    })),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reject' as const, 'forge' as const), saying }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
);

const runs: fc.Arbitrary<Run> = fc.record({
  attempts: fc.constantFrom(1 as const, 1 as const, 2 as const),
  steps: fc.oneof(
    { weight: 2, arbitrary: fc.array(step, { minLength: 2, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(step, { minLength: 5, maxLength: 8 }) },
  ),
});

function completes(status: Status): boolean {
  return status === 'settlement' || status === 'capture';
}

/** Whether a status is one with which a transaction begins, and another one comes later than it. */
function isBefore(status: Status, other: Status): boolean {
  if (status === 'pending') return other !== 'pending';
  return status === 'authorize' && other !== 'pending' && other !== 'authorize';
}

function same(a: Saying, b: Saying, { code = true } = {}): boolean {
  return (
    a.transaction === b.transaction &&
    a.status === b.status &&
    (!code || a.code === b.code) &&
    a.amount === b.amount &&
    a.fraud === b.fraud
  );
}

/** Interface.md section 3 and decisions.md, Payment notifications, written down anew and without the service's code. */
class Model {
  status: Status = 'pending';
  /** The transaction that the status comes from. */
  transaction: number | null = null;
  /** Numbers the completions; null while the order is not complete. */
  completion: number | null = null;
  readonly lines: Line[] = [];
  private completions = 0;
  private attempt: number | null = null;

  constructor(private readonly attempts: number) {}

  /** The later attempt, if there is one, has the third transaction. */
  attemptOf(transaction: number): number {
    return transaction === 2 && this.attempts === 2 ? 1 : 0;
  }

  tell(source: string, said: Saying): void {
    const outcome = this.outcome(source, said);
    if (outcome !== 'applied' && source !== 'notification') return;
    this.lines.push({ source, outcome, saying: said, status: said.status });
    if (outcome !== 'applied') return;
    if (!completes(said.status)) this.completion = null;
    else if (this.completion === null || this.transaction !== said.transaction)
      this.completion = this.completions += 1;
    this.status = said.status;
    this.transaction = said.transaction;
    this.attempt = this.attemptOf(said.transaction);
  }

  /** @returns whether it may be cancelled */
  cancel(): boolean {
    if (this.status !== 'pending') return false;
    this.lines.push({ source: 'cancellation', outcome: 'applied', saying: null, status: 'cancel' });
    this.status = 'cancel';
    return true;
  }

  reject(): void {
    this.lines.push({ source: 'notification', outcome: 'rejected', saying: null, status: null });
  }

  private outcome(source: string, said: Saying): 'applied' | 'duplicate' | 'late' {
    const stands = this.status === said.status && this.transaction === said.transaction;
    const latest = this.attempts - 1;
    const counts = this.status === 'pending' ? latest : (this.attempt ?? latest);
    const isOther = this.attemptOf(said.transaction) !== counts;
    const told = this.lines.filter((line) => line.saying?.transaction === said.transaction);
    const applied = told.filter((line) => line.outcome === 'applied').map((line) => line.status);
    const heard = (ofNotification: boolean, code: boolean): boolean =>
      told.some(
        (line) =>
          (line.source === 'notification') === ofNotification &&
          line.saying !== null &&
          same(line.saying, said, { code }),
      );
    const isOld =
      source === 'notification'
        ? heard(true, true) || (stands && heard(false, false))
        : stands || (isOther && completes(this.status) && applied.includes(said.status));
    if (isOld) return 'duplicate';
    if (isOther && !completes(said.status)) return 'late';
    return applied.some((status) => status !== null && isBefore(said.status, status)) ? 'late' : 'applied';
  }
}

let service: TestService;
let payments: PaymentsService;
let events: PaymentEventsService;
let cancellations: CancellationService;
let dataSource: DataSource;
let userId: number;
const spare: { readonly orderId: string; readonly laterId: string }[] = [];

beforeAll(async () => {
  service = await startService();
  const answer = await service.client().register().expect(201);
  userId = (answer.body as { data: { user: { id: number } } }).data.user.id;
  const { DataSource } = (await importBuilt('../node_modules/typeorm/index.mjs')) as typeof import('typeorm');
  const { PaymentsService } = await built('src/payments/payments.service.js');
  const { PaymentEventsService } = await built('src/payments/payment-events.service.js');
  const { CancellationService } = await built('src/payments/cancellation.service.js');
  dataSource = service.app.get(DataSource);
  payments = service.app.get(PaymentsService, { strict: false });
  events = service.app.get(PaymentEventsService, { strict: false });
  cancellations = service.app.get(CancellationService, { strict: false });
});

afterAll(async () => {
  await service.stop();
});

/** A new pending order. */
async function newOrder(attempts: 1 | 2): Promise<{ orderId: string; laterId: string }> {
  if (spare.length < 20) {
    const made = Array.from({ length: 1000 }, () => ({ orderId: randomUUID(), laterId: randomUUID() }));
    await service.database.pool.query(
      'INSERT INTO orders (order_id, user_id, gross_amount) SELECT unnest($1::uuid[]), $2, 185000',
      [made.map(({ orderId }) => orderId), userId],
    );
    spare.push(...made);
  }
  const order = spare.shift();
  if (order === undefined) throw new Error('there are no more orders');
  if (attempts === 2)
    await service.database.pool.query(
      'INSERT INTO payment_attempts (attempt_id, order_id, number) VALUES ($1, $1, 1), ($2, $1, 2)',
      [order.orderId, order.laterId],
    );
  return order;
}

/** Plays a run on an order of its own, comparing with the model after every step, and the history at the end. */
async function play({ attempts, steps }: Run): Promise<void> {
  const { orderId, laterId } = await newOrder(attempts);
  const model = new Model(attempts);
  const sent: Saying[] = [];
  const kept: string[] = [];
  /** The completion that the order shows, and its time. */
  let [shown, shownAt]: [number | null, number] = [null, NaN];

  const attemptOf = (said: Saying): string => (model.attemptOf(said.transaction) === 1 ? laterId : orderId);
  const transactionOf = (said: Saying): string => `${orderId}/${said.transaction}`;
  const bodyOf = (said: Saying): Notification =>
    notification({
      order_id: attemptOf(said),
      transaction_id: transactionOf(said),
      transaction_status: said.status,
      status_code: said.code,
      gross_amount: said.amount,
      fraud_status: said.fraud,
    });
  const deliver = async (said: Saying): Promise<void> => {
    sent.push(said);
    const payload = JSON.stringify(bodyOf(said));
    model.tell('notification', said);
    kept.push(payload);
    await payments.receive(JSON.parse(payload), payload);
  };
  const answer = async (source: PaymentEvent['source'], said: Saying): Promise<void> => {
    model.tell(source, said);
    const event = {
      source,
      attemptId: attemptOf(said),
      status: said.status,
      transactionId: transactionOf(said),
      statusCode: said.code,
      grossAmount: said.amount,
      paymentType: 'bank_transfer',
      fraudStatus: said.fraud,
      payload: '{}',
    };
    await dataSource.transaction((tx) => events.record(tx, event));
  };

  for (const current of steps) {
    const before = Date.now();
    switch (current.kind) {
      case 'notify':
        await deliver(current.saying);
        break;
      case 'redeliver': {
        const again = sent[current.which % Math.max(sent.length, 1)];
        if (again !== undefined) await deliver(again);
        break;
      }
      case 'reconcile':
        await answer('reconciliation', current.saying);
        break;
      case 'confirm cancellation':
        await answer('cancellation', current.saying);
        break;
      case 'reject': {
        const { fraud_status: _fraudStatus, ...body } = bodyOf(current.saying);
        kept.push(JSON.stringify(body));
        model.reject();
        expect(await failureOf(payments.receive(body, JSON.stringify(body)))).toBe(400);
        break;
      }
      case 'forge': {
        const body = { ...bodyOf(current.saying), gross_amount: '2.00' };
        expect(await failureOf(payments.receive(body, JSON.stringify(body)))).toBe(403);
        break;
      }
      case 'cancel': {
        const customer = { id: userId, fullname: 'Ayu', email: 'ayu@example.com', role: 'USER' as const };
        const failure = await failureOf(cancellations.cancel(customer, orderId));
        expect(failure).toBe(model.cancel() ? null : 409);
      }
    }

    const { rows } = await service.database.pool.query<{
      status: string;
      transaction_id: string | null;
      completed_at: Date | null;
    }>('SELECT status, transaction_id, completed_at FROM orders WHERE order_id = $1', [orderId]);
    const [order] = rows;
    expect([order?.status, order?.transaction_id]).toEqual([
      model.status,
      model.transaction === null ? null : `${orderId}/${model.transaction}`,
    ]);
    if (model.completion === null) {
      expect(order?.completed_at).toBeNull();
    } else {
      const time = order?.completed_at?.getTime() ?? NaN;
      if (model.completion === shown) {
        expect(time).toBe(shownAt);
      } else {
        expect(time).toBeGreaterThanOrEqual(before);
        expect(time).toBeLessThanOrEqual(Date.now());
      }
      shownAt = time;
    }
    shown = model.completion;
  }

  const { rows } = await service.database.pool.query<Line & { payload: string }>(
    `SELECT source, outcome, transaction_status AS status, payload
     FROM payment_notifications WHERE order_id = $1 ORDER BY id`,
    [orderId],
  );
  expect(rows.map(({ source, outcome, status }) => ({ source, outcome, status }))).toEqual(
    model.lines.map(({ source, outcome, status }) => ({ source, outcome, status })),
  );
  // Every delivery, as received and in its order.
  const notifications = rows.filter(({ source }) => source === 'notification');
  expect(notifications.map(({ payload }) => payload)).toEqual(kept);
}

/** The status of a documented failure; null for success. @throws whatever else goes wrong */
async function failureOf(work: Promise<unknown>): Promise<number | null> {
  try {
    await work;
    return null;
  } catch (error) {
    const { name, code } = error as { name?: unknown; code?: unknown };
    if (name !== 'Failure' || typeof code !== 'number') throw error;
    return code;
  }
}

it(`issue 3: in ${LANES * RUNS_PER_LANE} random sequences of notifications, redeliveries, reconciliations and cancellations, of several transactions and attempts, status, completed_at and history follow the documented table`, async () => {
  await Promise.all(
    Array.from({ length: LANES }, () => fc.assert(fc.asyncProperty(runs, play), { numRuns: RUNS_PER_LANE })),
  );
}, 120_000);
