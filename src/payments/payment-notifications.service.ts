import { Injectable, Logger } from '@nestjs/common';
import { isString, isUUID } from 'class-validator';
import { DataSource, type EntityManager } from 'typeorm';
import { type Failure, type FieldMessages, failures } from '../common/errors/failures.js';
import { createCounter } from '../common/observability/metrics.js';
import { parseRupiah } from '../common/rupiah.js';
import { checkDto } from '../common/validation/validation.pipe.js';
import { Env } from '../config/env.js';
import { isValidSignature } from '../gateway/midtrans.messages.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentEvent } from './payment-event.entity.js';
import { type NewPaymentEvent, PaymentHistoryService } from './payment-history.service.js';
import { findImplausibleFields, PaymentNotificationDto } from './payment-notification.dto.js';
import { ReconciliationService } from './reconciliation.service.js';

/** The gateway's dashboard has a button that sends a test notification, whose order_id begins like this. */
const TEST_ORDER_PREFIX = 'payment_notif_test_';

const NOTIFICATION_OUTCOMES = [
  // Response 200
  'applied',
  'duplicate',
  'late',
  'unconfirmed',
  'test',
  // Any other response
  'bad_signature',
  'invalid',
  'incomplete',
  'unknown_order',
  'failed',
] as const;

const paymentNotifications = createCounter(
  'bakery_payment_notifications_total',
  'Payment notifications by outcome; unconfirmed: money for an order that has ended; incomplete: without fraud_status, as ' +
    'some payment methods send it; failed: the gateway retries',
  'outcome',
  NOTIFICATION_OUTCOMES,
);

interface Result {
  /** Value of the metric. Unlike the outcome of an event, it splits `rejected` into `invalid` and `incomplete`. */
  readonly outcome: (typeof NOTIFICATION_OUTCOMES)[number];
  /** Failure of the response; absent for 200. It is returned, because a throw would roll back the stored notification. */
  readonly failure?: Failure;
}

/** Receives the gateway's notifications (contract 4.9, 6 and 14). */
@Injectable()
export class PaymentNotificationsService {
  readonly #logger = new Logger('Payments');

  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * @param body parsed JSON
   * @param payload text of the body, exactly as received
   */
  async receive(body: unknown, payload: string): Promise<void> {
    let result: Result = { outcome: 'failed' };
    try {
      result = await this.#process(body, payload);
    } finally {
      paymentNotifications.inc({ outcome: result.outcome });
    }
    if (result.failure !== undefined) throw result.failure;
  }

  async #process(body: unknown, payload: string): Promise<Result> {
    const { value: notification, details: problems } = await checkDto(PaymentNotificationDto, body);
    if (!this.#isSigned(notification)) {
      const failure = problems === null ? failures.invalidSignature() : failures.validation(problems);
      // Not `invalid`, which fires an alert: anyone can send a request without a signature.
      return { outcome: 'bad_signature', failure };
    }
    if (notification.order_id.startsWith(TEST_ORDER_PREFIX)) return { outcome: 'test' };
    return this.dataSource.transaction((tx) => this.#processSigned(tx, notification, problems, payload));
  }

  #isSigned(notification: PaymentNotificationDto): boolean {
    const { order_id, status_code, gross_amount, signature_key } = notification;
    const isSignable = [order_id, status_code, gross_amount, signature_key].every(isString);
    return isSignable && isValidSignature(notification, signature_key, this.env.midtransServerKey);
  }

  /**
   * Records a notification of a known order; an invalid or implausible one gets the outcome `rejected`. Enqueues checks of the
   * order after a rejected or an unconfirmed notification. Stores no notification of an unknown order.
   */
  async #processSigned(
    tx: EntityManager,
    notification: PaymentNotificationDto,
    problems: FieldMessages | null,
    payload: string,
  ): Promise<Result> {
    const { order_id: attemptId } = notification; // The gateway's orders are payment attempts.
    const order = isUUID(attemptId, 'loose') ? await this.orders.lockOfAttempt(tx, attemptId) : null;
    if (order === null && problems !== null) return this.#reject(attemptId, notification, problems);
    if (order === null) return { outcome: 'unknown_order', failure: failures.notFound() };

    const { orderId, grossAmount } = order;
    const reasons = { ...findImplausibleFields(notification, grossAmount), ...problems };
    if (Object.keys(reasons).length > 0) {
      await tx.insert(PaymentEvent, { orderId, outcome: 'rejected', payload });
      await this.reconciliation.enqueueRepeatedChecks(tx, orderId);
      return this.#reject(orderId, notification, reasons);
    }
    const outcome = await this.history.record(tx, order, toEvent(notification, payload));
    if (outcome === 'unconfirmed') await this.reconciliation.enqueueRepeatedChecks(tx, orderId);
    return { outcome };
  }

  /**
   * Builds the response to a signed notification that is invalid or implausible, and logs its fields.
   * @param orderId id of the order. For an unknown order, the `order_id` of the notification
   */
  #reject(
    orderId: string,
    { fraud_status }: Partial<PaymentNotificationDto>,
    problems: FieldMessages,
  ): Result {
    const failure = failures.validation(problems);
    const fields = Object.keys(problems).join(', ');
    // Some payment methods, for example convenience stores, send no fraud_status. This is no cause for an alert.
    if (fields === 'fraud_status' && fraud_status == null) return { outcome: 'incomplete', failure };
    this.#logger.warn(`a notification about order ${orderId} was rejected: ${fields}`);
    return { outcome: 'invalid', failure };
  }
}

function toEvent(notification: PaymentNotificationDto, payload: string): NewPaymentEvent {
  return {
    source: 'notification',
    status: notification.transaction_status,
    attemptId: notification.order_id.toLowerCase(),
    transactionId: notification.transaction_id,
    statusCode: notification.status_code,
    grossAmount: notification.gross_amount,
    refundAmount: parseRupiah(notification.refund_amount),
    fraudStatus: notification.fraud_status,
    payload,
  };
}
