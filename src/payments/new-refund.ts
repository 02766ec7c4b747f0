import { randomUUID } from 'node:crypto';
import { failures } from '../common/errors.js';
import type { Order } from '../orders/orders.service.js';
import type { RefundDto } from './refund.dto.js';
import { Refund } from './refund.entity.js';

/**
 * Builds a refund of a locked order, not yet stored.
 * @param manualSum whole rupiah that were returned outside of the gateway before
 * @throws Failure 409 if the order is not paid or the amount exceeds the rest
 */
export function newRefund(order: Order, request: RefundDto, digest: Buffer, manualSum: number): Refund {
  const { orderId, transactionId, currentAttemptId: attemptId } = order;
  const refunded = Number(order.refundedAmount);
  const rest = Number(order.grossAmount) - refunded;
  const amount = request.amount ?? rest;
  const isManual = request.manual ?? false;
  if (!order.isPaid || transactionId === null || amount > rest) throw failures.orderNotRefundable();
  return Object.assign(new Refund(), {
    refundId: randomUUID(),
    orderId,
    attemptId,
    transactionId,
    amount: String(amount),
    gatewaySum: String(refunded - manualSum + (isManual ? 0 : amount)),
    reason: request.reason === '' ? null : (request.reason ?? null),
    isManual,
    state: isManual ? ('succeeded' as const) : ('requested' as const),
    claimedAt: isManual ? null : new Date(),
    idempotencyKey: request['idempotency-key'] ?? null,
    requestDigest: digest,
  });
}
