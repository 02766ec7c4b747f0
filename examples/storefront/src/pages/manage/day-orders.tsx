import { useRef, useState } from 'react';
import { Link } from 'react-router';
import type { AdminOrder } from '../../api/client';
import { explain } from '../../api/errors';
import { formatClock } from '../../calendar';
import { Badge, FULFILMENT_TEXTS } from '../../components/order-labels';
import { Alert, Notice, useBackLinkState } from '../../components/page';
import { formatCount, formatOrderNumber } from '../../format';
import { toast } from '../../state/toast';
import { StepButton } from './fulfilment';

interface DayOrdersProps {
  /** Orders of the day sheet, sorted by pickup time. They are paid and not refused. */
  orders: AdminOrder[];
  timeZone: string;
}

/** Paid orders of a day: first the orders to hand over, then the collected ones. */
export function DayOrders({ orders, timeZone }: DayOrdersProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [error, setError] = useState<Error | null>(null);
  const open = orders.filter(({ fulfilment }) => fulfilment !== 'collected');
  const collected = orders.filter(({ fulfilment }) => fulfilment === 'collected');
  const renderRow = (order: AdminOrder) => (
    <DayOrder
      key={order.order_id}
      order={order}
      timeZone={timeZone}
      onError={setError}
      onCollected={() => {
        toast(`${order.customer.fullname} has collected order ${formatOrderNumber(order.order_id)}.`);
        // The pressed button moves away with its order.
        heading.current?.focus();
      }}
    />
  );
  return (
    <section className="day-orders" aria-labelledby="day-orders">
      <h2 id="day-orders" ref={heading} tabIndex={-1}>
        {orders.length === 0 ? 'Orders' : `${formatCount(open.length, 'order')} to hand over`}
      </h2>
      <Alert>{error && explain(error)}</Alert>
      {orders.length === 0 && (
        <Notice icon="orders" title="No orders" text="There are no paid orders for this day yet." />
      )}
      <ol className="rows" aria-label="Orders to hand over">
        {open.map(renderRow)}
      </ol>
      {collected.length > 0 && (
        <div className="collected-orders">
          <h2>{formatCount(collected.length, 'collected order')}</h2>
          <ol className="rows collected" aria-label="Collected orders">
            {collected.map(renderRow)}
          </ol>
        </div>
      )}
    </section>
  );
}

interface DayOrderProps {
  order: AdminOrder;
  timeZone: string;
  onError: (error: Error | null) => void;
  onCollected: () => void;
}

function DayOrder({ order, timeZone, onError, onCollected }: DayOrderProps) {
  const { order_id, pickup_at, phone, note, customer, items, fulfilment } = order;
  return (
    <li className="row day-order">
      <span className="pickup-time">
        {pickup_at === null ? 'Any time' : formatClock(pickup_at, timeZone)}
      </span>
      <div className="row-main">
        <span className="contact">
          <strong>{customer.fullname}</strong>
          <Link to={`/manage/orders/${order_id}`} state={useBackLinkState()}>
            {formatOrderNumber(order_id)}
          </Link>
          {phone !== null && <a href={`tel:${phone.replaceAll(/[^\d+]/g, '')}`}>{phone}</a>}
        </span>
        <ul className="items">
          {items.map(({ product_id, name, quantity }) => (
            <li key={product_id}>{`${quantity} × ${name}`}</li>
          ))}
        </ul>
        {note !== null && <p className="note">{note}</p>}
      </div>
      <div className="next-step">
        <Badge {...FULFILMENT_TEXTS[fulfilment]} />
        <StepButton
          order={order}
          description={`${customer.fullname}, ${formatOrderNumber(order_id)}`}
          onError={onError}
          onTaken={(step) => step === 'collected' && onCollected()}
        />
      </div>
    </li>
  );
}
