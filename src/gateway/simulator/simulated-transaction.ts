import { randomUUID } from 'node:crypto';
import { formatGatewayTime } from '../midtrans.messages.js';
import type { RefundRequest, TransactionStatus } from '../payment-gateway.js';

/** Fields of a transaction that the gateway's messages contain, except the status and the signed fields. */
interface SimulatedPayment {
  readonly transaction_id: string;
  readonly transaction_time: string;
  readonly payment_type: string;
  /** Convenience stores are not screened for fraud. */
  readonly fraud_status?: string;
  /** Sum of the refunds, for example `50000.00`. */
  readonly refund_amount?: string;
  readonly refunds?: readonly Readonly<Record<string, string | null>>[];
}

/** Transaction of a payment page: one try of the customer to pay. A change returns a new object. */
export interface SimulatedTransaction {
  readonly status: TransactionStatus;
  readonly payment: SimulatedPayment;
}

export function createTransaction(method: string, status: TransactionStatus): SimulatedTransaction {
  const payment = {
    transaction_id: randomUUID(),
    transaction_time: formatGatewayTime(new Date()),
    payment_type: method,
    ...(method !== 'cstore' && { fraud_status: status === 'deny' ? 'deny' : 'accept' }),
  };
  return { status, payment };
}

export function changeStatus({ payment }: SimulatedTransaction, status: TransactionStatus) {
  const isDeniedByFraud = status === 'deny' && payment.fraud_status !== undefined;
  return { status, payment: isDeniedByFraud ? { ...payment, fraud_status: 'deny' } : payment };
}

export function addRefund(
  { payment }: SimulatedTransaction,
  { refundKey, amount, reason }: RefundRequest,
  total: number,
): SimulatedTransaction {
  const sum = readRefundedAmount(payment) + amount;
  const refund = {
    refund_key: refundKey,
    refund_amount: `${amount}.00`,
    reason,
    created_at: formatGatewayTime(new Date()),
  };
  const refunds = [...(payment.refunds ?? []), refund];
  return {
    status: sum < total ? 'partial_refund' : 'refund',
    payment: { ...payment, refund_amount: `${sum}.00`, refunds },
  };
}

export function readRefundedAmount(payment: SimulatedPayment | null): number {
  return Number(payment?.refund_amount ?? 0);
}
