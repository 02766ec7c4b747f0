import { Link } from 'react-router';
import type { AdminOrder, Fulfilment, Order, OrderStatus } from '../api/client';
import { isPaid } from '../api/orders';
import { formatPrice, formatTime } from '../format';
import { EndlessList, type EndlessListProps } from './endless-list';

interface StatusText {
  label: string;
  /** What it means for the customer. */
  text: string;
  tone: 'waiting' | 'good' | 'bad' | 'plain';
}

const PAID: StatusText = { label: 'Paid', text: 'Thank you! Your payment is here.', tone: 'good' };

/** How the status of an order's payment is told to people. */
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

/** How an order's fulfilment is told to people. */
export const FULFILMENT: Record<Fulfilment, StatusText> = {
  new: { label: 'New', text: 'We have your order and start soon.', tone: 'waiting' },
  preparing: { label: 'Preparing', text: 'We are baking for you.', tone: 'waiting' },
  ready: { label: 'Ready', text: 'Your order is ready. Come and collect it.', tone: 'good' },
  collected: { label: 'Collected', text: 'Enjoy it!', tone: 'plain' },
  refused: { label: 'Refused', text: 'We cannot make this order. We are sorry.', tone: 'bad' },
};

interface OrderListProps<Item> extends Pick<EndlessListProps<Item>, 'query' | 'empty' | 'notFound'> {
  /** Path of the orders' pages, without the id. */
  path: string;
}

/** Orders as links to their pages. */
export function OrderList<Item extends Order>({ path, ...props }: OrderListProps<Item>) {
  return (
    <EndlessList
      label="Orders, newest first"
      noun="order"
      className="rows"
      renderItem={(order) => <OrderRow key={order.order_id} order={order} path={path} />}
      {...props}
    />
  );
}

function OrderRow({ order, path }: { order: Order & Partial<AdminOrder>; path: string }) {
  const hasBegun = isPaid(order) || order.fulfilment !== 'new';
  return (
    <li>
      <Link className="row" to={`${path}/${order.order_id}`}>
        <span className="row-main">
          <strong>{order.items.map(({ name, quantity }) => `${quantity} × ${name}`).join(', ')}</strong>
          {order.customer && <span>{order.customer.fullname}</span>}
          <small>{formatTime(order.created_at)}</small>
        </span>
        <Badge {...STATUS[order.status]} />
        {hasBegun && <Badge {...FULFILMENT[order.fulfilment]} />}
        <span className="price">{formatPrice(order.gross_amount)}</span>
      </Link>
    </li>
  );
}

export function Badge({ label, tone }: StatusText) {
  return <span className={`badge ${tone}`}>{label}</span>;
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
