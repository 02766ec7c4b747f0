import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { OrdersService } from '../orders/orders.service.js';
import type { Outcome, PaymentEvent } from './payment-event.js';
import { outcomeOf } from './payment-outcome.js';
import { PaymentsRepository } from './payments.repository.js';

/** The one way in which an order's payment changes: notifications, answers of the gateway and cancellations. */
@Injectable()
export class PaymentEventsService {
  constructor(
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
  ) {}

  /**
   * Keeps an event and applies it, unless it is a duplicate or late. The order is locked until the transaction ends.
   * An answer that we asked for and that says nothing new is not kept.
   * @returns null when there is no such order
   */
  async record(tx: EntityManager, event: PaymentEvent): Promise<Outcome | null> {
    const order = await this.orders.lock(tx, event.attemptId);
    if (order === null) return null;
    const history = await this.payments.historyOf(tx, order.orderId, event.transactionId);
    const outcome = outcomeOf(event, order, order.currentAttemptId, history);
    if (outcome === 'applied') await this.orders.applyPayment(tx, order, event);
    if (outcome === 'applied' || event.source === 'notification') {
      const { orderId } = order;
      await this.payments.keep(tx, { ...event, orderId, outcome, transactionStatus: event.status });
    }
    return outcome;
  }
}
