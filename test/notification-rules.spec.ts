import fc from 'fast-check';
import { afterPayment, isCompleted, ORDER_STATUSES, type PaymentState } from '../src/orders/order-status.js';
import { type Outcome, outcomeOf } from '../src/payments/notification-outcome.js';

const RUNS = 1_000;

/** What of a notification decides about an order; two that agree in all of it are a delivery and its redelivery. */
interface Delivery {
  readonly transactionId: string;
  readonly status: (typeof ORDER_STATUSES)[number];
  readonly statusCode: string;
  readonly amount: string;
  readonly fraudStatus: string;
}

interface Step {
  readonly delivery: Delivery;
  readonly outcome: Outcome;
  readonly before: PaymentState;
  readonly after: PaymentState;
  readonly at: Date;
}

const NEW_ORDER: PaymentState = { status: 'pending', transactionId: null, completedAt: null };

const delivery: fc.Arbitrary<Delivery> = fc.record({
  transactionId: fc.constantFrom('A', 'B', 'C'),
  status: fc.constantFrom(...ORDER_STATUSES),
  statusCode: fc.constantFrom('200', '201', '202'),
  amount: fc.constantFrom('185000.00', '1.00'),
  fraudStatus: fc.constantFrom('accept', 'deny', 'challenge'),
});

/** Some notifications, each delivered up to four times, in any order. */
const deliveries = fc
  .array(fc.record({ delivery, times: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 12 })
  .map((entries) => entries.flatMap((entry) => Array.from({ length: entry.times }, () => entry.delivery)))
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

function isSame(a: Delivery, b: Delivery): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What the service does with one notification after another, with the two rules under test. */
function run(sequence: readonly Delivery[]): Step[] {
  const steps: Step[] = [];
  let order = NEW_ORDER;
  for (const [index, delivery] of sequence.entries()) {
    const ofTransaction = steps.filter((step) => step.delivery.transactionId === delivery.transactionId);
    const outcome = outcomeOf(delivery.status, {
      isRedelivery: ofTransaction.some((step) => isSame(step.delivery, delivery)),
      isOfOtherAttempt: false,
      appliedStatuses: ofTransaction
        .filter((step) => step.outcome === 'applied')
        .map((step) => step.delivery.status),
    });
    const before = order;
    const at = new Date(Date.UTC(2026, 10, 20) + index * 1000);
    if (outcome === 'applied') order = afterPayment(order, delivery, at);
    steps.push({ delivery, outcome, before, after: order, at });
  }
  return steps;
}

/** Holds for every step of every sequence. */
function always(property: (step: Step, earlier: readonly Step[]) => void): void {
  fc.assert(
    fc.property(deliveries, (sequence) => {
      const steps = run(sequence);
      for (const [index, step] of steps.entries()) property(step, steps.slice(0, index));
    }),
    { numRuns: RUNS },
  );
}

/** The statuses after which a notification of the same transaction is late (decisions.md, Payment notifications). */
function isLaterThan(applied: string, status: string): boolean {
  if (status === 'pending') return applied !== 'pending';
  return status === 'authorize' && applied !== 'pending' && applied !== 'authorize';
}

describe('any sequence of notifications, with redeliveries, reordered, of several transactions', () => {
  it('interface sections 3 and 6: an applied notification gives the order its status', () => {
    always(({ outcome, delivery, after }) => {
      if (outcome !== 'applied') return;
      expect(after.status).toBe(delivery.status);
      expect(after.transactionId).toBe(delivery.transactionId);
    });
  });

  it('interface section 3: completed_at is set on settlement and capture, and null in every other state', () => {
    always(({ after }) => {
      expect(after.completedAt !== null).toBe(after.status === 'settlement' || after.status === 'capture');
    });
  });

  it('decisions, Payment notifications: a redelivery or a late notification changes nothing', () => {
    always(({ outcome, before, after }) => {
      if (outcome !== 'applied') expect(after).toBe(before);
    });
  });

  it('decisions, Payment notifications: every delivery but the first of the same is a duplicate', () => {
    always(({ outcome, delivery }, earlier) => {
      expect(outcome === 'duplicate').toBe(earlier.some((step) => isSame(step.delivery, delivery)));
    });
  });

  it('decisions, Payment notifications: late are pending and authorize after a later status of their own transaction, and nothing else', () => {
    always(({ outcome, delivery }, earlier) => {
      if (outcome === 'duplicate') return;
      const isLate = earlier.some(
        (step) =>
          step.outcome === 'applied' &&
          step.delivery.transactionId === delivery.transactionId &&
          isLaterThan(step.delivery.status, delivery.status),
      );
      expect(outcome).toBe(isLate ? 'late' : 'applied');
    });
  });

  it('decisions, Payment notifications: completed_at is now, unless the same transaction has set it already', () => {
    always(({ outcome, delivery, before, after, at }) => {
      if (outcome !== 'applied' || !isCompleted(delivery.status)) return;
      const isKept = before.transactionId === delivery.transactionId && before.completedAt !== null;
      expect(after.completedAt).toEqual(isKept ? before.completedAt : at);
    });
  });

  it('decisions, Payment notifications: once all was delivered, delivering all of it again changes nothing', () => {
    fc.assert(
      fc.property(deliveries, deliveries, (sequence, again) => {
        const known = again.filter((entry) => sequence.some((delivered) => isSame(entry, delivered)));
        const steps = run([...sequence, ...known, ...sequence]);
        expect(steps.at(-1)?.after).toBe(steps[sequence.length - 1]?.after);
      }),
      { numRuns: RUNS },
    );
  });

  it('decisions, Payment notifications: a single transaction ends the same wherever its beginning arrives', () => {
    const ends = fc.constantFrom(...ORDER_STATUSES.filter((s) => s !== 'pending' && s !== 'authorize'));
    fc.assert(
      fc.property(
        ends,
        fc.shuffledSubarray<Delivery['status']>(['pending', 'authorize']),
        fc.nat(2),
        (end, beginnings, position) => {
          const one = (status: Delivery['status']): Delivery => ({
            transactionId: 'A',
            status,
            statusCode: '200',
            amount: '1.00',
            fraudStatus: 'accept',
          });
          const sequence = beginnings.map(one).toSpliced(position, 0, one(end));
          expect(run(sequence).at(-1)?.after.status).toBe(end);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('the documented table', () => {
  it('interface section 6: the ten statuses are these', () => {
    expect([...ORDER_STATUSES].sort()).toEqual(
      [
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
      ].sort(),
    );
  });

  it('interface section 3: from any state, any status of another transaction applies', () => {
    for (const from of ORDER_STATUSES) {
      for (const to of ORDER_STATUSES) {
        const now = new Date();
        const completedAt = isCompleted(from) ? new Date(0) : null;
        const after = afterPayment(
          { status: from, transactionId: 'A', completedAt },
          { status: to, transactionId: 'B' },
          now,
        );
        expect(after).toEqual({
          status: to,
          transactionId: 'B',
          completedAt: to === 'settlement' || to === 'capture' ? now : null,
        });
        expect(outcomeOf(to, { isRedelivery: false, isOfOtherAttempt: false, appliedStatuses: [] })).toBe(
          'applied',
        );
      }
    }
  });

  it('decisions, Payment notifications: deny after settlement of the same transaction applies', () => {
    expect(
      outcomeOf('deny', {
        isRedelivery: false,
        isOfOtherAttempt: false,
        appliedStatuses: ['pending', 'settlement'],
      }),
    ).toBe('applied');
  });
});
