import type { AdminOrder, PaymentEvent, Transaction } from '../../api/client';
import { isPaid } from '../../api/order-status';
import { formatDateAndTime } from '../../calendar';
import { Badge } from '../../components/badge';
import { describeMethod, describePayment, labelStatus } from '../../components/order-texts';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import { PaymentHistory } from './payment-history';
import { RefundForm } from './refund-form';

interface PaymentSectionProps {
  order: AdminOrder;
  events: PaymentEvent[];
  transactions: Transaction[];
}

/** Payments and payment history of an order, with forms that refund payments. */
export function PaymentSection({ order, events, transactions }: PaymentSectionProps) {
  // Not `refund_due`, which is also true for a surplus. A surplus has its own message and form.
  const isDue = order.fulfilment === 'refused' && isPaid(order);
  return (
    <section className="panel" aria-labelledby="payment">
      <h2 id="payment">{t('manage.payment')}</h2>
      <p>
        <Badge {...describePayment(order)} /> {describeMethod(order.payment_type)}
      </p>
      {isDue && <p className="error">{t('payment.due')}</p>}
      {isPaid(order) && (
        <RefundForm orderId={order.order_id} payment={order} label={t('manage.refund')} isDue={isDue} />
      )}
      <Transactions orderId={order.order_id} transactions={transactions} />
      <PaymentHistory events={events} />
    </section>
  );
}

/** Transactions of an order that has more than one. A surplus has a form that returns the money. */
function Transactions({ orderId, transactions }: { orderId: string; transactions: Transaction[] }) {
  // A single transaction is the payment that the section already describes.
  if (transactions.length < 2) return null;
  return (
    <>
      <h3>{t('transactions.title')}</h3>
      <ol className="history" aria-label={t('transactions.title')}>
        {transactions.map((transaction) => (
          <li key={transaction.transaction_id}>
            <span className="title-line">
              <strong>
                {labelStatus(transaction.status, transaction.fraud_status)}{' '}
                {describeMethod(transaction.payment_type)}
              </strong>
              <span className="price">{formatPrice(transaction.gross_amount)}</span>
            </span>
            <small>
              {formatDateAndTime(transaction.created_at)} · {transaction.transaction_id}
            </small>
            {transaction.surplus && (
              <>
                <p className="error">{t('transactions.surplus')}</p>
                <RefundForm orderId={orderId} payment={transaction} label={t('transactions.return')} isDue />
              </>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
