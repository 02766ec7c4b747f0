import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { OrdersService } from '../orders/orders.service.js';
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
   * Keeps an event and applies it, unless it is a duplicate or late, to an order that the transaction has locked.
   * An answer that we asked for and that says nothing new is not kept.
   */
  async record(tx: EntityManager, orderId: string, event: PaymentEvent): Promise<Outcome> {
    const { source, status, transactionId, statusCode, grossAmount, paymentType, fraudStatus, payload } =
      event;
    const outcome = outcomeOf(status, await this.payments.history(tx, orderId, event));
    if (outcome === 'applied' || source === 'notification') {
      await this.payments.keep(tx, {
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
    }
    if (outcome === 'applied') {
      await this.orders.applyPayment(tx, orderId, {
        status,
        transactionId,
        paymentType,
        fraudStatus,
        amount: grossAmount,
      });
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
}
