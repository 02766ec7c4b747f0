import type { AdminOrder, Transaction } from '../../api/client';
import { describeMethod } from '../../components/order-labels';
import { formatDateAndTime, formatPrice } from '../../format';
import { t } from '../../i18n';
import { RefundForm } from './refund-form';

interface TransactionsProps {
  order: AdminOrder;
  transactions: Transaction[];
}

/** Tries of the customer to pay, if there is more than one. A second payment has a form that returns the money. */
export function Transactions({ order, transactions }: TransactionsProps) {
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
              {formatDateAndTime(transaction.created_at)} · {transaction.transaction_id}
            </small>
            {transaction.surplus && (
              <>
                <p className="error">{t('transactions.surplus')}</p>
                <RefundForm order={order} transaction={transaction} />
              </>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
