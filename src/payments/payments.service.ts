import { Injectable } from '@nestjs/common';
import { isString, isUUID } from 'class-validator';
import { DataSource, type EntityManager } from 'typeorm';
import { type Failure, type FieldMessages, failures } from '../common/errors.js';
import { type NotificationOutcome, paymentNotifications } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { isSignedBy } from '../gateway/signature.js';
import { OrdersService } from '../orders/orders.service.js';
import type { ReceivedNotification } from './notification.pipe.js';
import type { PaymentEvent } from './payment-event.js';
import { PaymentEventsService } from './payment-events.service.js';
import type { PaymentNotificationDto } from './payments.dto.js';
import { PaymentsRepository } from './payments.repository.js';
import { findImplausible, parseAmount } from './plausibility.js';
import { ReconciliationService } from './reconciliation.service.js';

/** Prefix of the order ids in notifications that the test button of the gateway's dashboard sends. */
const TEST_ORDER = 'payment_notif_test_';

/** Result of a notification: its label in the metric, and the failure to respond with, if any. */
interface Verdict {
  readonly label: NotificationOutcome;
  readonly failure?: Failure;
}

/** Receives the gateway's notifications (contract 4.9, 6 and 14). */
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
   * Stores a notification and applies it to its order, in one transaction. After a failure the gateway delivers the
   * notification again.
   *
   * @throws Failure 400 with the failing fields, 403 for a wrong signature, 404 for an unknown order
   */
  async receive(received: ReceivedNotification): Promise<void> {
    let verdict: Verdict = { label: 'failed' };
    try {
      verdict = await this.#process(received);
    } finally {
      paymentNotifications.inc({ outcome: verdict.label });
      // Version 1.1 called late notifications stale. Dashboards may still read that label.
      if (verdict.label === 'late') paymentNotifications.inc({ outcome: 'stale' });
    }
    if (verdict.failure !== undefined) throw verdict.failure;
  }

  async #process({ notification, payload, problems }: ReceivedNotification): Promise<Verdict> {
    if (!this.#isSigned(notification))
      return problems === null
        ? { label: 'bad_signature', failure: failures.signature() }
        : invalid(problems);
    if (notification.order_id.startsWith(TEST_ORDER)) return { label: 'test' };
    if (problems !== null) {
      await this.dataSource.transaction((tx) => this.#reject(tx, notification.order_id, payload));
      return invalid(problems);
    }
    return this.dataSource.transaction((tx) => this.#apply(tx, notification, payload));
  }

  async #apply(tx: EntityManager, notification: PaymentNotificationDto, payload: string): Promise<Verdict> {
    const order = await this.orders.lock(tx, notification.order_id);
    if (order === null) return { label: 'unknown_order', failure: failures.notFound() };
    const implausible = findImplausible(notification, order.grossAmount);
    if (implausible !== null) {
      await this.#reject(tx, order.orderId, payload);
      return invalid(implausible);
    }
    return { label: await this.events.record(tx, order, toEvent(notification, payload)) };
  }

  #isSigned(notification: PaymentNotificationDto): boolean {
    const { order_id, status_code, gross_amount, signature_key } = notification;
    const isSignable = [order_id, status_code, gross_amount, signature_key].every(isString);
    return isSignable && isSignedBy(notification, signature_key, this.env.payment.serverKey);
  }

  /** Stores a signed notification that cannot be applied, and enqueues a check of its order at the gateway. */
  async #reject(tx: EntityManager, id: string, payload: string): Promise<void> {
    const order = isUUID(id, 'loose') ? await this.orders.lock(tx, id) : null;
    if (order === null) return;
    await this.payments.insert(tx, { orderId: order.orderId, outcome: 'rejected', payload });
    await this.reconciliation.checkSoon(tx, order.orderId);
  }
}

function invalid(problems: FieldMessages): Verdict {
  return { label: 'invalid', failure: failures.validation(problems) };
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
