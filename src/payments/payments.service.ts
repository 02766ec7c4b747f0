import { Injectable } from '@nestjs/common';
import { isString, isUUID } from 'class-validator';
import { DataSource } from 'typeorm';
import { failures } from '../common/errors.js';
import { type NotificationOutcome, paymentNotifications } from '../common/metrics.js';
import { checkDto } from '../common/validation.pipe.js';
import { Env } from '../config/env.js';
import { isSignedBy } from '../gateway/signature.js';
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
    const { value: notification, details } = await checkDto(PaymentNotificationDto, body);
    let outcome: NotificationOutcome = 'failed';
    try {
      outcome = await this.#record(notification, details === null, payload);
    } finally {
      paymentNotifications.inc({ outcome });
    }
    if (details !== null && outcome === 'invalid') throw failures.validation(details);
    if (outcome === 'bad_signature') throw failures.signature();
    if (outcome === 'unknown_order') throw failures.notFound();
  }

  /** @param isValid whether every field is; the signed ones are looked at anyway */
  async #record(
    notification: PaymentNotificationDto,
    isValid: boolean,
    payload: string,
  ): Promise<NotificationOutcome> {
    if (!this.#isSigned(notification)) return isValid ? 'bad_signature' : 'invalid';
    if (notification.order_id.startsWith(TEST_ORDER)) return 'test';
    if (!isValid) {
      await this.#keepRejected(notification.order_id, payload);
      return 'invalid';
    }
    const event = eventOf(notification, payload);
    const outcome = await this.dataSource.transaction((tx) => this.events.record(tx, event));
    if (outcome === null) return 'unknown_order';
    // The metric keeps the label that dashboards know from version 1.0.
    return outcome === 'late' ? 'stale' : outcome;
  }

  #isSigned(notification: PaymentNotificationDto): boolean {
    const { order_id, status_code, gross_amount, signature_key } = notification;
    const isSignable = [order_id, status_code, gross_amount, signature_key].every(isString);
    return isSignable && isSignedBy(notification, signature_key, this.env.payment.serverKey);
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
