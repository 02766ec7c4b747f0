import { Injectable } from '@nestjs/common';
import { isString, isUUID } from 'class-validator';
import { DataSource, type EntityManager } from 'typeorm';
import { type Failure, type FieldMessages, failures } from '../common/errors.js';
import { type NotificationOutcome, paymentNotifications } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { isValidSignature } from '../gateway/signature.js';
import { OrdersService } from '../orders/orders.service.js';
import type { ReceivedNotification } from './notification.pipe.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import { StoredPaymentEvent } from './stored-payment-event.entity.js';
import type { PaymentNotificationDto } from './payments.dto.js';
import { findImplausibleFields, parseAmount } from './plausibility.js';
import { ReconciliationService } from './reconciliation.service.js';

/** The gateway's dashboard has a button that sends a test notification, whose order_id begins like this. */
const TEST_ORDER_PREFIX = 'payment_notif_test_';

interface Result {
  readonly outcome: NotificationOutcome; // In the metric, a `rejected` event is called `invalid`.
  /** Failure of the response; absent for 200. Returned, because throwing it would roll back the stored notification. */
  readonly failure?: Failure;
}

/** Receives the gateway's notifications (contract 4.9, 6 and 14). */
@Injectable()
export class PaymentsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /** @throws Failure 400 with the failing fields, 403 for a wrong signature, 404 for an unknown order */
  async receive(received: ReceivedNotification): Promise<void> {
    let result: Result = { outcome: 'failed' };
    try {
      result = await this.#process(received);
    } finally {
      paymentNotifications.inc({ outcome: result.outcome });
      // Version 1.1 called late notifications stale. Dashboards may still read that label.
      if (result.outcome === 'late') paymentNotifications.inc({ outcome: 'stale' });
    }
    if (result.failure !== undefined) throw result.failure;
  }

  async #process(received: ReceivedNotification): Promise<Result> {
    const { notification, problems } = received;
    const isSigned = this.#isSigned(notification);
    if (!isSigned && problems !== null) return buildValidationResult(problems, 'bad_signature'); // `invalid` fires an alert.
    if (!isSigned) return { outcome: 'bad_signature', failure: failures.signature() };
    if (notification.order_id.startsWith(TEST_ORDER_PREFIX)) return { outcome: 'test' };
    return this.dataSource.transaction((tx) => this.#store(tx, received));
  }

  /** Records a valid notification of a known order. Stores an invalid one as rejected, and enqueues a check of the order. */
  async #store(
    tx: EntityManager,
    { notification, payload, problems }: ReceivedNotification,
  ): Promise<Result> {
    const { order_id: attemptId } = notification; // The gateway's orders are payment attempts.
    const order = isUUID(attemptId, 'loose') ? await this.orders.lock(tx, attemptId) : null;
    if (order === null && problems !== null) return buildValidationResult(problems);
    if (order === null) return { outcome: 'unknown_order', failure: failures.notFound() };

    const { orderId, grossAmount } = order;
    const reasons = problems ?? findImplausibleFields(notification, grossAmount);
    if (reasons === null)
      return { outcome: await this.events.record(tx, order, toEvent(notification, payload)) };
    await tx.insert(StoredPaymentEvent, { orderId, outcome: 'rejected', payload });
    await this.reconciliation.enqueueCheck(tx, orderId);
    return buildValidationResult(reasons);
  }

  #isSigned(notification: PaymentNotificationDto): boolean {
    const { order_id, status_code, gross_amount, signature_key } = notification;
    const isSignable = [order_id, status_code, gross_amount, signature_key].every(isString);
    return isSignable && isValidSignature(notification, signature_key, this.env.midtransServerKey);
  }
}

function buildValidationResult(problems: FieldMessages, outcome: NotificationOutcome = 'invalid'): Result {
  return { outcome, failure: failures.validation(problems) };
}

function toEvent(notification: PaymentNotificationDto, payload: string): PaymentEvent {
  return {
    source: 'notification',
    attemptId: notification.order_id.toLowerCase(),
    status: notification.transaction_status,
    transactionId: notification.transaction_id,
    statusCode: notification.status_code,
    grossAmount: notification.gross_amount,
    refundAmount: parseAmount(notification.refund_amount),
    paymentType: notification.payment_type,
    fraudStatus: notification.fraud_status,
    payload,
  };
}
