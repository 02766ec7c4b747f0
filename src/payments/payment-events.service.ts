import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { afterPayment, isCompleted } from '../orders/order-status.js';
import { OrdersService } from '../orders/orders.service.js';
import { type Outcome, outcomeOf } from './notification-outcome.js';
import type { EventSource, PaymentEvent } from './payment-event.js';
import { type KnownPayment, PaymentLedgerRepository, unheardOf } from './payment-ledger.repository.js';
import { PaymentsRepository } from './payments.repository.js';

/** The one way in which an order's payment changes, whoever brings the news. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
    private readonly ledger: PaymentLedgerRepository,
  ) {}

  /**
   * Keeps an event and applies it, unless it is a duplicate or late, in a transaction of its own. Two things hardly
   * ever happen to an order at once, so that the event is judged without a lock first, and under one if they do.
   *
   * @param orderId of the order or of one of its payment attempts
   * @returns null when there is no such order
   */
  async recordAtOnce(db: EntityManager, orderId: string, event: PaymentEvent): Promise<Outcome | null> {
    const known = await this.ledger.known(db, orderId, event);
    if (known === null) return null;
    const outcome = judge(known, event);
    const isDone =
      outcome === 'applied'
        ? await this.#apply(db, known, event)
        : // Whatever else happens, what was notified once stays a redelivery.
          known.wasNotified && (await this.#keep(db, known, outcome, event));
    return isDone ? outcome : db.transaction((tx) => this.record(tx, orderId, event));
  }

  /**
   * Keeps an event and applies it in one statement, if it is the first that is heard of an order.
   * @returns false, and nothing is written, if it is not
   */
  recordFirst(db: EntityManager, event: PaymentEvent): Promise<boolean> {
    const unheard = unheardOf(event.attemptId);
    if (judge(unheard, event) !== 'applied') return Promise.resolve(false);
    return this.ledger.applyFirst(db, afterPayment(unheard, event, new Date()), event);
  }

  /**
   * The same as a part of a transaction, under the order's lock, which lasts as long. An answer that we asked for and
   * that says nothing new is not kept.
   */
  async record(tx: EntityManager, orderId: string, event: PaymentEvent): Promise<Outcome | null> {
    if ((await this.orders.lock(tx, orderId)) === null) return null;
    const known = await this.ledger.known(tx, orderId, event);
    if (known === null) throw new Error('a locked order is gone');
    const outcome = judge(known, event);
    if (outcome === 'applied') {
      if (!(await this.#apply(tx, known, event))) throw new Error('an order changed under its lock');
    } else if (event.source === 'notification') {
      await this.#keep(tx, known, outcome, event);
    }
    return outcome;
  }

  /** Ends a pending order of which the gateway has no transaction, and keeps why. */
  async close(
    tx: EntityManager,
    orderId: string,
    status: 'cancel' | 'expire',
    source: EventSource,
    reason: string,
  ): Promise<void> {
    await this.payments.keep(tx, {
      orderId,
      source,
      outcome: 'applied',
      transactionStatus: status,
      payload: JSON.stringify({ reason }),
    });
    await this.orders.close(tx, orderId, status);
  }

  /** @returns false, and nothing is written, when the order is no longer as it was known */
  #apply(db: EntityManager, known: KnownPayment, event: PaymentEvent): Promise<boolean> {
    return this.ledger.apply(db, known, afterPayment(known, event, new Date()), event);
  }

  async #keep(
    db: EntityManager,
    { orderId }: KnownPayment,
    outcome: Outcome,
    event: PaymentEvent,
  ): Promise<true> {
    const { source, transactionId, status, statusCode, grossAmount, fraudStatus, payload } = event;
    await this.payments.keep(db, {
      orderId,
      source,
      outcome,
      transactionId,
      transactionStatus: status,
      statusCode,
      grossAmount,
      fraudStatus,
      payload,
    });
    return true;
  }
}

/**
 * A notification may be an old one, hence a redelivery whenever it was received before. What we asked for is how
 * things stand at the gateway: no news only if the order stands so already.
 */
function judge(known: KnownPayment, event: PaymentEvent): Outcome {
  const { wasNotified, wasAnswered, appliedStatuses } = known;
  const stands = known.status === event.status && known.transactionId === event.transactionId;
  const isOfOtherAttempt = event.attemptId !== attemptThatCounts(known);
  // An order that was paid twice shows one payment: asking again must not make it show the other.
  const wasPaidTwice =
    isOfOtherAttempt && isCompleted(known.status) && appliedStatuses.includes(event.status);
  const isRedelivery =
    event.source === 'notification' ? wasNotified || (wasAnswered && stands) : stands || wasPaidTwice;
  return outcomeOf(event.status, { isRedelivery, isOfOtherAttempt, appliedStatuses });
}

/** The payment attempt that an order's status comes from or, while it is pending, is to come from. */
function attemptThatCounts({ orderId, status, settledBy, latestAttemptId }: KnownPayment): string {
  return (status === 'pending' ? null : settledBy) ?? latestAttemptId ?? orderId;
}
