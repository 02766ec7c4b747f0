import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { DataSource } from 'typeorm';
import { Failure, failures } from '../common/errors.js';
import { type NotificationOutcome, paymentNotifications } from '../common/metrics.js';
import { checkDto } from '../common/validation.pipe.js';
import { Env } from '../config/env.js';
import { isSignedBy, type SignedFields } from '../gateway/signature.js';
import { OrdersService } from '../orders/orders.service.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import { PaymentNotificationDto } from './payments.dto.js';
import { PaymentsRepository } from './payments.repository.js';
import { ReconciliationService } from './reconciliation.service.js';

/** Order ids of the notifications that the gateway's dashboard sends to try the address out. */
const TEST_ORDER = 'payment_notif_test_';

/** Receives the gateway's notifications (contract 4.9 and 6). */
@Injectable()
export class PaymentsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly env: Env,
    private readonly orders: OrdersService,
    private readonly payments: PaymentsRepository,
    private readonly events: PaymentEventsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * Keeps a notification and applies it to its order, in one transaction. Returning acknowledges it; after any
   * failure the gateway delivers it again.
   *
   * @param body as parsed; @param payload as received
   * @throws Failure 400 naming the failing fields, 403 for a wrong signature, 404 for an unknown order
   */
  async receive(body: unknown, payload: string): Promise<void> {
    try {
      const outcome = await this.#receive(body, payload);
      paymentNotifications.inc({ outcome });
    } catch (error) {
      paymentNotifications.inc({ outcome: outcomeOfFailure(error) });
      throw error;
    }
  }

  async #receive(body: unknown, payload: string): Promise<NotificationOutcome> {
    const { value: notification, details } = await checkDto(PaymentNotificationDto, body);
    const isSigned =
      isSignable(notification) &&
      isSignedBy(notification, notification.signature_key, this.env.payment.serverKey);
    if (isSigned && notification.order_id.startsWith(TEST_ORDER)) return 'test';
    if (details !== null) {
      if (isSigned) await this.#keepRejected(notification.order_id, payload);
      throw failures.validation(details);
    }
    if (!isSigned) throw failures.signature();
    return this.#keepAndApply(notification, payload);
  }

  async #keepAndApply(notification: PaymentNotificationDto, payload: string): Promise<NotificationOutcome> {
    const event = eventOf(notification, payload);
    const outcome = await this.dataSource.transaction((tx) => this.events.record(tx, event));
    if (outcome === null) throw failures.notFound();
    // The metric keeps the label that dashboards know from version 1.0.
    return outcome === 'late' ? 'stale' : outcome;
  }

  /** A notification that the gateway signed and that we cannot read must not be lost with its answer. */
  async #keepRejected(orderId: string, payload: string): Promise<void> {
    if (!isUUID(orderId, 'loose')) return;
    await this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lock(tx, orderId);
      if (order === null) return;
      await this.payments.keep(tx, { orderId: order.orderId, outcome: 'rejected', payload });
      await this.reconciliation.checkSoon(tx, order.orderId);
    });
  }
}

function eventOf(notification: PaymentNotificationDto, payload: string): PaymentEvent {
  return {
    source: 'notification',
    attemptId: notification.order_id.toLowerCase(),
    status: notification.transaction_status,
    transactionId: notification.transaction_id,
    statusCode: notification.status_code,
    grossAmount: notification.gross_amount,
    paymentType: notification.payment_type,
    fraudStatus: notification.fraud_status,
    payload,
  };
}

const OUTCOME_OF_STATUS: Readonly<Record<number, NotificationOutcome>> = {
  400: 'invalid',
  403: 'bad_signature',
  404: 'unknown_order',
};

function outcomeOfFailure(error: unknown): NotificationOutcome {
  return (error instanceof Failure ? OUTCOME_OF_STATUS[error.code] : undefined) ?? 'failed';
}

/** Whether the signed fields are there at all; the others may be bad. */
function isSignable(notification: Readonly<Record<keyof SignedFields | 'signature_key', unknown>>): boolean {
  return [
    notification.order_id,
    notification.status_code,
    notification.gross_amount,
    notification.signature_key,
  ].every((field) => typeof field === 'string');
}
