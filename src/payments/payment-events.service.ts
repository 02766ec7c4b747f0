import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ORDER_STATUSES, type OrderStatus } from '../orders/order-status.js';
import { OrdersService } from '../orders/orders.service.js';
import { type GatewayTransaction, GatewayUnavailableError } from '../gateway/payment-gateway.js';
import { type Outcome, outcomeOf } from './notification-outcome.js';
import { PaymentsRepository } from './payments.repository.js';

/** How something became known: the gateway told us, or we asked, or it confirmed what we asked for. */
export type EventSource = 'notification' | 'reconciliation' | 'cancellation';

/** What became known of a transaction. */
export interface PaymentEvent {
  readonly source: EventSource;
  readonly status: OrderStatus;
  readonly transactionId: string;
  readonly statusCode: string;
  readonly grossAmount: string;
  readonly paymentType: string;
  readonly fraudStatus: string | null;
  /** As received. */
  readonly payload: string;
}

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

/**
 * An answer of the gateway's as an event.
 * @throws GatewayUnavailableError when it names a status that no order can have
 */
export function eventOf(transaction: GatewayTransaction, source: EventSource): PaymentEvent {
  const { transactionStatus, ...rest } = transaction;
  const status = ORDER_STATUSES.find((known) => known === transactionStatus);
  if (status === undefined)
    throw new GatewayUnavailableError('the gateway answered an unknown transaction status');
  return { ...rest, status, source };
}
