import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import type { OrderStatus, PaymentState } from '../orders/order-status.js';
import type { PaymentEvent } from './payment-event.js';

/** All that is known of an order's payment, and of an event's transaction, when the event arrives. */
export interface KnownPayment extends PaymentState {
  readonly orderId: string;
  /** Another one whenever an event was applied to the order or it got another attempt. */
  readonly version: string;
  /** The payment attempt that the order's status comes from. */
  readonly settledBy: string | null;
  /** Its latest payment attempt. */
  readonly latestAttemptId: string | null;
  /** A notification of the transaction said just the same. */
  readonly wasNotified: boolean;
  /** An answer of the gateway's said the same, whatever its status code: `expire` has 407 there, 202 when notified. */
  readonly wasAnswered: boolean;
  /** Statuses of the transaction that were applied. */
  readonly appliedStatuses: readonly OrderStatus[];
}

/** The version is `xmin`, the transaction that wrote the order's row: applying an event does, and a new attempt. */
const KNOWN = {
  name: 'payment-known',
  text: `
    SELECT orders.order_id AS "orderId", orders.xmin::text AS version, status, transaction_id AS "transactionId",
      completed_at AS "completedAt", attempt_id AS "settledBy",
      (SELECT attempt_id FROM payment_attempts WHERE payment_attempts.order_id = orders.order_id
       ORDER BY number DESC LIMIT 1) AS "latestAttemptId",
      history.*
    FROM orders CROSS JOIN LATERAL (
      SELECT
        coalesce(bool_or(source = 'notification' AND transaction_status = $3 AND status_code = $4
                         AND gross_amount = $5 AND fraud_status IS NOT DISTINCT FROM $6), false) AS "wasNotified",
        coalesce(bool_or(source <> 'notification' AND transaction_status = $3
                         AND gross_amount = $5 AND fraud_status IS NOT DISTINCT FROM $6), false) AS "wasAnswered",
        coalesce(array_agg(DISTINCT transaction_status) FILTER (WHERE outcome = 'applied'), '{}')
          AS "appliedStatuses"
      FROM payment_notifications
      WHERE payment_notifications.order_id = orders.order_id AND payment_notifications.transaction_id = $2
    ) AS history
    WHERE orders.order_id = coalesce((SELECT order_id FROM payment_attempts WHERE attempt_id = $1), $1)`,
};

/** Gives an order the state and keeps the event. @param version SQL: the row version that the order must still have */
const applying = (orders: string, version: string) => `
    changed AS (
      UPDATE orders SET status = $2, transaction_id = $3, completed_at = $4, attempt_id = $5, payment_type = $6,
        fraud_status = $7, transaction_amount = $8, updated_at = now()
      ${orders} AND orders.xmin = ${version}
      RETURNING orders.order_id
    )
    INSERT INTO payment_notifications
      (order_id, outcome, transaction_status, transaction_id, fraud_status, gross_amount, source, status_code, payload)
    SELECT order_id, 'applied', $2, $3, $7, $8, $9, $10, $11 FROM changed
    RETURNING id`;

const APPLY = {
  name: 'payment-apply',
  text: `WITH ${applying('WHERE orders.order_id = $1', '$12::xid')}`,
};

/** Materialized: when the order is changed meanwhile, the version must not be read again with it. */
const APPLY_FIRST = {
  name: 'payment-apply-first',
  text: `
    WITH unheard AS MATERIALIZED (
      SELECT order_id, xmin AS version FROM orders
      WHERE order_id = $1 AND status = 'pending' AND transaction_id IS NULL AND attempt_id IS NULL
        AND NOT EXISTS (SELECT FROM payment_notifications WHERE payment_notifications.order_id = $1)
        AND NOT EXISTS (SELECT FROM payment_attempts
                        WHERE payment_attempts.order_id = $1 AND payment_attempts.attempt_id <> $1)
    ), ${applying('FROM unheard WHERE orders.order_id = unheard.order_id', 'unheard.version')}`,
};

/**
 * An order's payment and its history, read in one statement and written in one (docs/decisions/08), for the sake of
 * payment notifications. Nothing is decided here.
 */
@Injectable()
export class PaymentLedgerRepository {
  /**
   * @param id of the order or of one of its payment attempts, which is what the gateway may name
   * @returns null when there is no such order
   */
  async known(db: EntityManager, id: string, event: PaymentEvent): Promise<KnownPayment | null> {
    const { transactionId, status, statusCode, grossAmount, fraudStatus } = event;
    const rows = await queryNamed<KnownPayment>(db, KNOWN, [
      id,
      transactionId,
      status,
      statusCode,
      grossAmount,
      fraudStatus,
    ]);
    return rows[0] ?? null;
  }

  /**
   * Gives the order the state that an event leads to, and keeps the event.
   * @returns false, and nothing is written, when the order is no longer as it was known
   */
  async apply(
    db: EntityManager,
    { orderId, version }: KnownPayment,
    state: PaymentState,
    event: PaymentEvent,
  ): Promise<boolean> {
    const rows = await queryNamed(db, APPLY, [orderId, ...written(state, event), version]);
    return rows.length === 1;
  }

  /**
   * The same in one statement, without having read the order, for the first that is heard of it under its own id.
   * @returns false, and nothing is written, unless the order is as `unheardOf` says
   */
  async applyFirst(db: EntityManager, state: PaymentState, event: PaymentEvent): Promise<boolean> {
    const rows = await queryNamed(db, APPLY_FIRST, [event.attemptId, ...written(state, event)]);
    return rows.length === 1;
  }
}

/** What is known of an order of which nothing was heard, and that has no attempt but the one under its own id. */
export function unheardOf(orderId: string): KnownPayment {
  return {
    orderId,
    version: '',
    status: 'pending',
    transactionId: null,
    completedAt: null,
    settledBy: null,
    latestAttemptId: null,
    wasNotified: false,
    wasAnswered: false,
    appliedStatuses: [],
  };
}

/** The parameters $2 to $11 of the statements that apply an event. */
function written({ status, transactionId, completedAt }: PaymentState, event: PaymentEvent): unknown[] {
  const { attemptId, paymentType, fraudStatus, grossAmount, source, statusCode, payload } = event;
  return [
    status,
    transactionId,
    completedAt,
    attemptId,
    paymentType,
    fraudStatus,
    grossAmount,
    source,
    statusCode,
    payload,
  ];
}
