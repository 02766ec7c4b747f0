import type { PaymentEvent } from '../../api/client';
import { formatDateAndTime } from '../../calendar';
import { labelStatus } from '../../components/order-texts';
import { formatPrice } from '../../format';
import { t } from '../../i18n';

/** Maximum number of events in a response of the service. */
const MAX_EVENTS = 50;

/** Payload of an event about a refund. It is valid JSON. */
interface RefundPayload {
  /** Present only in the payload of a single refund. In other payloads, `refund_amount` is the total refunded so far. */
  refund_key?: string;
  refund_amount?: string | null;
  /** Amount of a refund that was made outside of the gateway, or of a rejected refund. */
  amount?: number;
  /** Reason for which the gateway or an operator rejected the refund. */
  rejection?: string;
}

/** Payment events of an order, oldest first. */
export function PaymentHistory({ events }: { events: PaymentEvent[] }) {
  return (
    <>
      <h3>{t('payment.history')}</h3>
      {events.length === 0 && <p className="hint">{t('payment.none')}</p>}
      <ol className="history" aria-label={t('payment.history')}>
        {events.map((event) => (
          <li key={event.id}>
            <span className="title-line">
              <strong>{describeEvent(event)}</strong>
              <span className="price">{describeAmount(event)}</span>
            </span>
            <small>
              {formatDateAndTime(event.received_at)} · {t(`source.${event.source}`)},{' '}
              {t(`outcome.${event.outcome}`)}
            </small>
          </li>
        ))}
      </ol>
      {events.length === MAX_EVENTS && <p className="hint">{t('payment.first', { max: MAX_EVENTS })}</p>}
    </>
  );
}

/** Describes the status that an event reports. A notification that was rejected may contain any text. */
function describeEvent({ transaction_status, fraud_status, source, payload }: PaymentEvent) {
  if (transaction_status !== null) return labelStatus(transaction_status, fraud_status);
  const { rejection } = source === 'refund' ? (JSON.parse(payload) as RefundPayload) : {};
  return rejection === undefined ? t('payment.noStatus') : t('payment.rejection', { reason: rejection });
}

/** Describes the amount of the refund if the event contains one, otherwise the amount of the payment. */
function describeAmount({ transaction_status, source, payload, gross_amount }: PaymentEvent) {
  // A rejected refund has no status.
  const isRefund = source === 'refund' || transaction_status?.includes('refund') === true;
  if (!isRefund) return formatAmount(gross_amount);
  const { refund_key, refund_amount, amount } = JSON.parse(payload) as RefundPayload;
  const text = formatAmount(refund_amount ?? amount ?? gross_amount);
  const isTotal = refund_amount != null && refund_key === undefined;
  return isTotal ? t('payment.inTotal', { amount: text }) : text;
}

/** Formats an amount. A rejected notification may contain any text. */
function formatAmount(amount: string | number | null) {
  const text = String(amount ?? '');
  return /^\d+(\.\d+)?$/.test(text) ? formatPrice(Number(text)) : text;
}
