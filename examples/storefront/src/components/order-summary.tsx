import type { ReactNode } from 'react';
import type { Order } from '../api/client';
import { isPaid } from '../api/order-status';
import { formatDateAndTime, formatDayAndTime } from '../calendar';
import { formatOrderNumber, formatPrice, toPhoneLink } from '../format';
import { t } from '../i18n';
import { Button } from './button';

/** Details, items and total of an order, titled "Receipt" while the order is paid. */
export function OrderSummary({ order }: { order: Order }) {
  const { pickup_at, phone, note } = order;
  return (
    <section className="panel receipt" aria-labelledby="summary">
      <div className="title-line">
        <h2 id="summary">{isPaid(order) ? t('order.receipt') : t('order.summary')}</h2>
        <Button className="button quiet small" onClick={() => window.print()}>
          {t('print')}
        </Button>
      </div>
      <p className="hint">
        {t('order.number', { number: formatOrderNumber(order.order_id), id: order.order_id })}
      </p>
      <p className="hint">{t('order.placed', { time: formatDateAndTime(order.created_at) })}</p>
      <dl className="details">
        {pickup_at !== null && <Detail name={t('order.pickup')}>{formatDayAndTime(pickup_at)}</Detail>}
        {phone !== null && (
          <Detail name={t('order.phone')}>
            <a href={toPhoneLink(phone)}>{phone}</a>
          </Detail>
        )}
        {note !== null && <Detail name={t('order.note')}>{note}</Detail>}
      </dl>
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{t('table.product')}</th>
            <th scope="col">{t('order.sum')}</th>
          </tr>
        </thead>
        <tbody>
          {order.items.map(({ product_id, name, quantity, price }) => (
            <tr key={product_id}>
              <td>
                {name}
                <small>{`${quantity} × ${formatPrice(price)}`}</small>
              </td>
              <td>{formatPrice(price * quantity)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('table.total')}</th>
            <td>{formatPrice(order.gross_amount)}</td>
          </tr>
          {order.refunded_amount > 0 && (
            <tr>
              <th scope="row">{t('status.refund')}</th>
              <td>−{formatPrice(order.refunded_amount)}</td>
            </tr>
          )}
        </tfoot>
      </table>
    </section>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
