import { Link } from 'react-router';
import type { AdminOrder, Order } from '../api/client';
import { isPaid } from '../api/order-status';
import { formatDateAndTime, formatDayAndTime } from '../calendar';
import { formatOrderNumber, formatPrice } from '../format';
import { t } from '../i18n';
import { useBackLinkState } from './back-link';
import { Badge } from './badge';
import { InfiniteList, type InfiniteListProps } from './infinite-list';
import { describeFulfilment, describePayment } from './order-texts';

interface OrderListProps<Item> extends Pick<InfiniteListProps<Item>, 'query' | 'empty' | 'notFoundText'> {
  /** Path of an order's page without the id. */
  path: string;
}

/** List of orders that loads its pages while it is scrolled. Each row is a link to the order. */
export function OrderList<Item extends Order>({ path, ...props }: OrderListProps<Item>) {
  return (
    <InfiniteList
      label={t('orders.list')}
      formatCount={(count) => t('count.orders', { count })}
      className="rows"
      renderItem={(order) => <OrderRow key={order.order_id} order={order} path={path} />}
      {...props}
    />
  );
}

/** Row of the list. Only orders that are loaded for administrators have `customer` and `refund_due`. */
function OrderRow({ order, path }: { order: Order & Partial<AdminOrder>; path: string }) {
  const backLinkState = useBackLinkState();
  const shouldShowFulfilment = isPaid(order) || order.fulfilment !== 'new';
  return (
    <li>
      <Link className="row" to={`${path}/${order.order_id}`} state={backLinkState}>
        <span className="row-main">
          <strong>{order.items.map(({ name, quantity }) => `${quantity} × ${name}`).join(', ')}</strong>
          {order.customer && <span>{order.customer.fullname}</span>}
          {order.pickup_at !== null && (
            <span>{t('orders.pickup', { time: formatDayAndTime(order.pickup_at) })}</span>
          )}
          <small>
            {formatOrderNumber(order.order_id)} · {formatDateAndTime(order.created_at)}
          </small>
        </span>
        <Badge {...describePayment(order)} />
        {shouldShowFulfilment && <Badge {...describeFulfilment(order.fulfilment)} />}
        {order.refund_due && <Badge label={t('orders.refundDue')} tone="error" />}
        <span className="price">{formatPrice(order.gross_amount)}</span>
      </Link>
    </li>
  );
}
