import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type { Order } from '../api/client';
import { explain } from '../api/errors';
import { useCancelOrder, useNewPaymentPage, useOrder } from '../api/orders';
import { Button } from '../components/button';
import { ConfirmDialog } from '../components/confirm-dialog';
import { Icon } from '../components/icon';
import { OrderSummary, STATUS } from '../components/orders';
import { Bars, Failure, Notice, PageHeading } from '../components/page';

const TONE_ICONS = { waiting: 'clock', good: 'check', bad: 'cross', plain: 'orders' } as const;

export function OrderPage() {
  const { data: order, isError, error, refetch } = useOrder(useParams().id ?? '');
  return (
    <div className="page narrow">
      <Link className="back" to="/orders">
        ← Your orders
      </Link>
      {order && (
        <article className="order">
          <OrderState order={order} />
          {order.status === 'pending' && <PendingActions order={order} />}
          <OrderSummary order={order} />
        </article>
      )}
      {!order && <PageHeading hidden>{order === null ? 'Order not found' : 'Order'}</PageHeading>}
      {order === null && (
        <Notice icon="orders" title="There is no such order" text="Maybe it is on another account." />
      )}
      {order === undefined && (isError ? <Failure error={error} onRetry={refetch} /> : <Bars lines={6} />)}
    </div>
  );
}

function OrderState({ order }: { order: Order }) {
  const { label, text, tone } = STATUS[order.status];
  return (
    <div role="status" className="order-state">
      <div className={`state ${tone}`}>
        <Icon name={TONE_ICONS[tone]} />
        <div>
          <PageHeading>{label}</PageHeading>
          <p>{text}</p>
        </div>
      </div>
    </div>
  );
}

/** What can be done with an order that waits for its payment. */
function PendingActions({ order }: { order: Order }) {
  const cancel = useCancelOrder(order.order_id);
  const newPage = useNewPaymentPage(order);
  const [isAsking, setIsAsking] = useState(false);
  const error = cancel.error ?? newPage.error;
  return (
    <div>
      <div className="actions">
        {order.redirect_url === null ? (
          <Button onClick={() => newPage.mutate()}>Get a payment page</Button>
        ) : (
          <a className="button" href={order.redirect_url} target="_blank" rel="noopener">
            Go to the payment page <Icon name="away" />
            <span className="hidden">(new tab)</span>
          </a>
        )}
        <Button className="button quiet" onClick={() => setIsAsking(true)}>
          Cancel order
        </Button>
      </div>
      <div role="alert">{error && <p className="alert">{explain(error)}</p>}</div>
      {isAsking && (
        <ConfirmDialog
          question="Cancel this order?"
          text="It will not be baked."
          yes="Cancel the order"
          onClose={(hasAgreed) => {
            setIsAsking(false);
            if (hasAgreed) cancel.mutate();
          }}
        />
      )}
    </div>
  );
}
