import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isCompleted } from '../orders/order-status.js';
import { type LockedOrder, OrdersService } from '../orders/orders.service.js';
import { type Outcome, outcomeOf } from './notification-outcome.js';
import type { EventSource, PaymentEvent } from './payment-event.js';
import { PaymentsRepository } from './payments.repository.js';

/** The one way in which an order's payment changes, whoever brings the news. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
  ) {}

  /**
   * Locks the event's order, keeps the event and applies it, unless it is a duplicate or late. An answer that we
   * asked for and that says nothing new is not kept.
   *
   * @param orderId of the order or of one of its payment attempts
   * @returns null when there is no such order
   */
  async record(tx: EntityManager, orderId: string, event: PaymentEvent): Promise<Outcome | null> {
    const order = await this.orders.lock(tx, orderId);
    if (order === null) return null;
    const outcome = await this.#outcome(tx, order, event);
    const { source, attemptId, status, transactionId, statusCode, grossAmount, paymentType, fraudStatus } =
      event;
    if (outcome === 'applied' || source === 'notification') {
      await this.payments.keep(tx, {
        orderId: order.orderId,
        source,
        outcome,
        transactionId,
        transactionStatus: status,
        statusCode,
        grossAmount,
        fraudStatus,
        payload: event.payload,
      });
    }
    if (outcome === 'applied') {
      await this.orders.applyPayment(tx, order, {
        attemptId,
        status,
        transactionId,
        paymentType,
        fraudStatus,
        amount: grossAmount,
      });
    }
    return outcome;
  }

  /**
   * A notification may be an old one, hence a redelivery whenever it was received before. What we asked for is how
   * things stand at the gateway: no news only if the order stands so already.
   */
  async #outcome(tx: EntityManager, order: LockedOrder, event: PaymentEvent): Promise<Outcome> {
    const { wasNotified, wasAnswered, appliedStatuses } = await this.payments.history(
      tx,
      order.orderId,
      event,
    );
    const stands = order.status === event.status && order.transactionId === event.transactionId;
    const isOfOtherAttempt = event.attemptId !== order.attemptId;
    // An order that was paid twice shows one payment: asking again must not make it show the other.
    const wasPaidTwice =
      isOfOtherAttempt && isCompleted(order.status) && appliedStatuses.includes(event.status);
    const isRedelivery =
      event.source === 'notification' ? wasNotified || (wasAnswered && stands) : stands || wasPaidTwice;
    return outcomeOf(event.status, { isRedelivery, isOfOtherAttempt, appliedStatuses });
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
}
