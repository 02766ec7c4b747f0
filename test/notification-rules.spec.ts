import fc from 'fast-check';
import { afterPayment, isCompleted, ORDER_STATUSES, type OrderStatus } from '../src/orders/order-status.js';
import type { PaymentState } from '../src/orders/order-status.js';
import type { PaymentEvent } from '../src/payments/payment-event.js';
import { type HistoryLine, type Outcome, outcomeOf } from '../src/payments/payment-outcome.js';

const RUNS = 1_000;
const ATTEMPT = 'the only attempt';
const NEW_ORDER: PaymentState = { status: 'pending', transactionId: null, completedAt: null };

interface Step {
  readonly event: PaymentEvent;
  readonly outcome: Outcome;
  readonly before: PaymentState;
  readonly after: PaymentState;
  readonly at: Date;
}

const event: fc.Arbitrary<PaymentEvent> = fc.record({
  source: fc.constant('notification' as const),
  attemptId: fc.constant(ATTEMPT),
  transactionId: fc.constantFrom('A', 'B', 'C'),
  status: fc.constantFrom(...ORDER_STATUSES),
  statusCode: fc.constantFrom('200', '201', '202'),
  grossAmount: fc.constantFrom('185000.00', '1.00'),
  fraudStatus: fc.constantFrom('accept', 'deny', 'challenge'),
  paymentType: fc.constant('qris'),
  payload: fc.constant('{}'),
});

/** Some notifications, each delivered up to four times, in any order. */
const deliveries = fc
  .array(fc.record({ event, times: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 12 })
  .map((entries) => entries.flatMap((entry) => Array.from({ length: entry.times }, () => entry.event)))
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

function isSame(a: PaymentEvent, b: PaymentEvent): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function lineOf({ event: { source, status, ...rest }, outcome }: Step): HistoryLine {
  return { source, outcome, transactionStatus: status, ...rest };
}

/** What the service does with one notification after another, with the rules under test. */
function run(sequence: readonly PaymentEvent[]): Step[] {
  const steps: Step[] = [];
  let order = NEW_ORDER;
  for (const [index, current] of sequence.entries()) {
    const history = steps.filter((step) => step.event.transactionId === current.transactionId).map(lineOf);
    const outcome = outcomeOf(current, order, ATTEMPT, history);
    const before = order;
    const at = new Date(Date.UTC(2026, 10, 20) + index * 1000);
    if (outcome === 'applied') order = afterPayment(order, current, at);
    steps.push({ event: current, outcome, before, after: order, at });
  }
  return steps;
}

/** Whether a status comes later in a transaction than one of its first two. */
function isLaterThan(applied: OrderStatus, status: OrderStatus): boolean {
  if (status === 'pending') return applied !== 'pending';
  return status === 'authorize' && applied !== 'pending' && applied !== 'authorize';
}

describe('any sequence of notifications, repeated and reordered, of several transactions', () => {
  it('leads to the documented status, completion time and outcome at every step (contract 3 and 6)', () => {
    fc.assert(
      fc.property(deliveries, (sequence) => {
        const steps = run(sequence);
        for (const [index, { event: current, outcome, before, after, at }] of steps.entries()) {
          const earlier = steps.slice(0, index);
          const isRepeated = earlier.some((step) => isSame(step.event, current));
          const isLate = earlier.some(
            (step) =>
              step.outcome === 'applied' &&
              step.event.transactionId === current.transactionId &&
              isLaterThan(step.event.status, current.status),
          );
          expect(outcome).toBe(isRepeated ? 'duplicate' : isLate ? 'late' : 'applied');
          if (outcome === 'applied') {
            const isKept = before.transactionId === current.transactionId && before.completedAt !== null;
            const completedAt = isKept ? before.completedAt : at;
            expect(after).toEqual({
              status: current.status,
              transactionId: current.transactionId,
              completedAt: isCompleted(current.status) ? completedAt : null,
            });
          } else {
            expect(after).toBe(before);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('changes nothing when all of it is delivered again', () => {
    fc.assert(
      fc.property(deliveries, (sequence) => {
        const steps = run([...sequence, ...sequence]);
        expect(steps.at(-1)?.after).toBe(steps[sequence.length - 1]?.after);
      }),
      { numRuns: RUNS },
    );
  });

  it('ends the same wherever the beginning of the only transaction arrives', () => {
    const ends = fc.constantFrom(...ORDER_STATUSES.filter((s) => s !== 'pending' && s !== 'authorize'));
    fc.assert(
      fc.property(
        event,
        ends,
        fc.shuffledSubarray<OrderStatus>(['pending', 'authorize']),
        fc.nat(2),
        (one, end, beginnings, position) => {
          const statuses = beginnings.toSpliced(position, 0, end);
          const sequence = statuses.map((status) => ({ ...one, transactionId: 'A', status }));
          expect(run(sequence).at(-1)?.after.status).toBe(end);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
