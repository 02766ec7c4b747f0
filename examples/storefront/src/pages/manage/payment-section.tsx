import type { AdminOrder, PaymentEntry } from '../../api/client';
import { isPaid } from '../../api/orders';
import { Badge, describePayment } from '../../components/order-labels';
import { formatDateAndTime, formatPrice } from '../../format';
import { RefundForm } from './refund-form';

const SOURCES = {
  notification: 'Notification',
  reconciliation: 'Status check',
  cancellation: 'Cancellation',
  refund: 'Refund',
};
const OUTCOMES = {
  applied: 'applied',
  duplicate: 'already known',
  late: 'too late to change anything',
  rejected: 'rejected as invalid',
};
/** Maximum number of entries in a response of the service. */
const MAX_ENTRIES = 50;

/** Payload of an entry with a refund status. It is valid JSON. */
interface RefundPayload {
  /** Present only in the payload of a single refund. In other payloads, `refund_amount` is the total refunded so far. */
  refund_key?: string;
  refund_amount?: string | null;
  /** Amount of a refund that was made outside of the gateway. Its payload has no `refund_amount`. */
  amount?: number;
}

interface PaymentSectionProps {
  order: AdminOrder;
  entries: PaymentEntry[];
}

export function PaymentSection({ order, entries }: PaymentSectionProps) {
  return (
    <section className="panel" aria-labelledby="payment">
      <h2 id="payment">Payment</h2>
      <p>
        <Badge {...describePayment(order)} /> {order.payment_type?.replaceAll('_', ' ')}
      </p>
      {order.refund_due && <p className="error">The order is refused and not refunded in full.</p>}
      {isPaid(order) && <RefundForm key={order.refunded_amount} order={order} />}
      {entries.length === 0 && <p className="hint">No payment has been recorded yet.</p>}
      <ol className="history" aria-label="Payment history">
        {entries.map((entry) => (
          <li key={entry.id}>
            <span className="title-line">
              <strong>{entry.transaction_status ?? 'No status'}</strong>
              <span className="price">{describeAmount(entry)}</span>
            </span>
            <small>
              {formatDateAndTime(entry.received_at)} · {SOURCES[entry.source]}, {OUTCOMES[entry.outcome]}
            </small>
          </li>
        ))}
      </ol>
      {entries.length === MAX_ENTRIES && <p className="hint">These are the first {MAX_ENTRIES} entries.</p>}
    </section>
  );
}

/** Describes the refunded amount if the entry contains one, otherwise the amount of the payment. */
function describeAmount({ transaction_status, payload, gross_amount }: PaymentEntry) {
  if (transaction_status?.includes('refund') !== true) return formatAmount(gross_amount);
  const { refund_key, refund_amount, amount } = JSON.parse(payload) as RefundPayload;
  const suffix = refund_amount == null || refund_key !== undefined ? '' : ' in total';
  return `${formatAmount(refund_amount ?? amount ?? gross_amount)}${suffix}`;
}

/** Formats an amount. A rejected notification may contain any text. */
function formatAmount(amount: string | number | null) {
  return /^\d+(\.\d+)?$/.test(String(amount)) ? formatPrice(Number(amount)) : amount;
}
