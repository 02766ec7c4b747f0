import fc from 'fast-check';
import { afterPayment, isCompleted, ORDER_STATUSES, type OrderStatus } from '../src/orders/order-status.js';
import type { PaymentState } from '../src/orders/order-status.js';
import type { PaymentEvent } from '../src/payments/payment-event.js';
import { type HistoryLine, outcomeOf } from '../src/payments/payment-outcome.js';

const RUNS = 3_000;
const FIRST = 'the first attempt';
const LATER = 'the later attempt';

const event: fc.Arbitrary<PaymentEvent> = fc
  .record({
    source: fc.constantFrom('notification', 'notification', 'reconciliation', 'cancellation'),
    transactionId: fc.constantFrom('A', 'B', 'C'),
    status: fc.constantFrom(...ORDER_STATUSES, 'settlement', 'capture', 'pending', 'expire'),
    statusCode: fc.constantFrom('200', '200', '202'),
    grossAmount: fc.constantFrom('185000.00', '185000.00', '1.00'),
    fraudStatus: fc.constantFrom('accept', 'accept', 'deny'),
    paymentType: fc.constant('qris'),
    payload: fc.constant('{}'),
  })
  // The third transaction belongs to the order's later payment attempt.
  .map((fields) => ({ ...fields, attemptId: fields.transactionId === 'C' ? LATER : FIRST }));

/** Some events, each heard up to four times, in any order. */
const events = fc
  .array(fc.record({ event, times: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 8 })
  .map((entries) => entries.flatMap((entry) => Array.from({ length: entry.times }, () => entry.event)))
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

interface Line {
  readonly event: PaymentEvent;
  readonly outcome: string;
}

/** An order with two payment attempts, and what is kept of its payment. */
class TestedOrder {
  state: PaymentState = { status: 'pending', transactionId: null, completedAt: null };
  attemptId: string | null = null;
  readonly lines: Line[] = [];

  get currentAttemptId(): string {
    return (this.state.status === 'pending' ? null : this.attemptId) ?? LATER;
  }

  /** What the service does with an event, by the rules under test. */
  hear(current: PaymentEvent, at: Date): string {
    const history = this.lines
      .filter((line) => line.event.transactionId === current.transactionId)
      .map(({ event: { status, ...rest }, outcome }) => ({ ...rest, outcome, transactionStatus: status }));
    const outcome = outcomeOf(current, this.state, this.currentAttemptId, history as HistoryLine[]);
    if (outcome === 'applied') {
      this.state = afterPayment(this.state, current, at);
      this.attemptId = current.attemptId;
    }
    if (outcome === 'applied' || current.source === 'notification')
      this.lines.push({ event: current, outcome });
    return outcome;
  }
}

/** The documented rules, written down anew (contract 6; docs/decisions 07 and 08). */
function expectedOutcome({ state, lines, currentAttemptId }: TestedOrder, current: PaymentEvent): string {
  const told = lines.filter((line) => line.event.transactionId === current.transactionId);
  const applied = told.filter(({ outcome }) => outcome === 'applied').map((line) => line.event.status);
  const isShown = state.status === current.status && state.transactionId === current.transactionId;
  const isOfOther = current.attemptId !== currentAttemptId;
  const said = (byNotification: boolean, fields: readonly (keyof PaymentEvent)[]): boolean =>
    told.some(
      (line) =>
        (line.event.source === 'notification') === byNotification &&
        fields.every((field) => line.event[field] === current[field]),
    );
  const isOld =
    current.source === 'notification'
      ? said(true, ['status', 'statusCode', 'grossAmount', 'fraudStatus']) ||
        (isShown && said(false, ['status', 'grossAmount', 'fraudStatus']))
      : isShown || (isOfOther && isCompleted(state.status) && applied.includes(current.status));
  if (isOld) return 'duplicate';
  if (isOfOther && !isCompleted(current.status)) return 'late';
  return applied.some((status) => isLaterThan(status, current.status)) ? 'late' : 'applied';
}

/** Whether a status comes later in a transaction than one of its first two. */
function isLaterThan(applied: OrderStatus, status: OrderStatus): boolean {
  if (status === 'pending') return applied !== 'pending';
  return status === 'authorize' && applied !== 'pending' && applied !== 'authorize';
}

describe('any sequence of notifications, answers and cancellations, of several transactions and attempts', () => {
  it('leads to the documented outcome, status and completion time at every step', () => {
    fc.assert(
      fc.property(events, (sequence) => {
        const order = new TestedOrder();
        for (const [index, current] of sequence.entries()) {
          const before = order.state;
          const expected = expectedOutcome(order, current);
          const at = new Date(Date.UTC(2026, 10, 20) + index * 1000);
          expect(order.hear(current, at)).toBe(expected);
          if (expected === 'applied') {
            const { status, transactionId } = current;
            const kept = before.transactionId === transactionId ? before.completedAt : null;
            const completedAt = isCompleted(status) ? (kept ?? at) : null;
            expect(order.state).toEqual({ status, transactionId, completedAt });
          } else {
            expect(order.state).toBe(before);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('ends the same wherever the beginning of the only transaction arrives', () => {
    const ends = fc.constantFrom(...ORDER_STATUSES.filter((s) => s !== 'pending' && s !== 'authorize'));
    const beginnings = fc.shuffledSubarray<OrderStatus>(['pending', 'authorize']);
    fc.assert(
      fc.property(event, ends, beginnings, fc.nat(2), (one, end, first, position) => {
        const order = new TestedOrder();
        for (const status of first.toSpliced(position, 0, end))
          order.hear({ ...one, source: 'notification', attemptId: LATER, status }, new Date(0));
        expect(order.state.status).toBe(end);
      }),
      { numRuns: RUNS },
    );
  });
});
