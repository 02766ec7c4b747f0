import { Link } from 'react-router';
import type { Order, OrderStatus } from '../api/client';
import { count, formatPrice, formatTime } from '../format';
import { EndlessList, type EndlessListProps } from './endless-list';

interface StatusText {
  label: string;
  text: string;
  tone: 'waiting' | 'good' | 'bad' | 'plain';
}

const PAID: StatusText = { label: 'Paid', text: 'Thank you! We start baking.', tone: 'good' };

/** How an order's status is told to people. */
export const STATUS: Record<OrderStatus, StatusText> = {
  pending: { label: 'Waiting for payment', text: 'This page will know when you have paid.', tone: 'waiting' },
  authorize: { label: 'Authorised', text: 'Your bank has agreed; the payment follows.', tone: 'waiting' },
  capture: PAID,
  settlement: PAID,
  deny: { label: 'Payment denied', text: 'The payment was refused. Nothing was charged.', tone: 'bad' },
  failure: { label: 'Payment failed', text: 'The payment did not go through.', tone: 'bad' },
  expire: { label: 'Expired', text: 'The time to pay is over. Please order again.', tone: 'bad' },
  cancel: { label: 'Cancelled', text: 'This order was cancelled.', tone: 'plain' },
  refund: { label: 'Refunded', text: 'Your money is on its way back.', tone: 'plain' },
  partial_refund: { label: 'Partly refunded', text: 'Part of your money is on its way back.', tone: 'plain' },
};

/** Orders as links to their pages. */
export function OrderList({ query, empty }: Pick<EndlessListProps<Order>, 'query' | 'empty'>) {
  return (
    <EndlessList
      query={query}
      label="Orders, newest first"
      className="rows"
      renderItem={(order) => <OrderRow key={order.order_id} order={order} />}
      empty={empty}
      end={(orders) => `${count(orders, 'order')} in all.`}
    />
  );
}

function OrderRow({ order }: { order: Order }) {
  const { label, tone } = STATUS[order.status];
  return (
    <li>
      <Link className="row" to={`/orders/${order.order_id}`}>
        <span className="row-main">
          <strong>{order.items.map(({ name, quantity }) => `${quantity} × ${name}`).join(', ')}</strong>
          <small>{formatTime(order.created_at)}</small>
        </span>
        <span className={`badge ${tone}`}>{label}</span>
        <span className="price">{formatPrice(order.gross_amount)}</span>
      </Link>
    </li>
  );
}

/** What was ordered: a receipt once it is paid. */
export function OrderSummary({ order }: { order: Order }) {
  return (
    <section className="panel receipt" aria-labelledby="summary">
      <h2 id="summary">{order.completed_at === null ? 'Order summary' : 'Receipt'}</h2>
      <p className="hint">Order {order.order_id}</p>
      <p className="hint">Placed on {formatTime(order.created_at)}</p>
      <table>
        <thead className="hidden">
          <tr>
            <th scope="col">Product</th>
            <th scope="col">Sum</th>
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
            <th scope="row">Total</th>
            <td>{formatPrice(order.gross_amount)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}
