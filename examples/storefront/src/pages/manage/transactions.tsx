import type { Transaction } from '../../api/client';
import { useTimeZone } from '../../api/shop';
import { describeMethod } from '../../components/order-labels';
import { formatDateAndTime, formatPrice } from '../../format';
import { t } from '../../i18n';
import { RefundForm } from './refund-form';

interface TransactionsProps {
  orderId: string;
  transactions: Transaction[];
}

/** Transactions of an order that has more than one. A surplus has a form that returns the money. */
export function Transactions({ orderId, transactions }: TransactionsProps) {
  const timeZone = useTimeZone();
  if (transactions.length < 2) return null;
  return (
    <>
      <h3>{t('transactions.title')}</h3>
      <ol className="history" aria-label={t('transactions.title')}>
        {transactions.map((transaction) => (
          <li key={transaction.transaction_id}>
            <span className="title-line">
              <strong>
                {t(`status.${transaction.status}`)} {describeMethod(transaction.payment_type)}
              </strong>
              <span className="price">{formatPrice(transaction.gross_amount)}</span>
            </span>
            <small>
              {formatDateAndTime(transaction.created_at, timeZone)} · {transaction.transaction_id}
            </small>
            {transaction.surplus && (
              <>
                <p className="error">{t('transactions.surplus')}</p>
                <RefundForm
                  key={transaction.refunded_amount}
                  orderId={orderId}
                  payment={transaction}
                  label={t('transactions.return')}
                  isDue
                />
              </>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
