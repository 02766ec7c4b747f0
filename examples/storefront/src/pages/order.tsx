import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Fulfilment, Order } from '../api/client';
import { explain } from '../api/errors';
import { cancelOrder, getPaymentPage, isPaid, orderDetail } from '../api/orders';
import { Button } from '../components/button';
import { ConfirmButton } from '../components/confirm-button';
import { Icon } from '../components/icon';
import { FULFILMENT, OrderSummary, STATUS } from '../components/orders';
import { Alert, Loaded, PageHeading } from '../components/page';

const MISSING = { icon: 'orders', title: 'There is no such order', text: 'Maybe it is on another account.' };
const TONE_ICONS = { waiting: 'clock', good: 'check', bad: 'cross', plain: 'orders' } as const;

export function OrderPage() {
  const query = useQuery(orderDetail(useParams().id ?? ''));
  return (
    <div className="page narrow">
      <Link className="back" to="/orders">
        ← Your orders
      </Link>
      <Loaded query={query} title="Order" missing={MISSING}>
        {({ order }) => (
          <article className="order">
            <OrderState order={order} />
            {order.status === 'pending' && <PendingActions order={order} />}
            {hasProgress(order) && <Progress step={order.fulfilment} />}
            <OrderSummary order={order} />
          </article>
        )}
      </Loaded>
    </div>
  );
}

/** Whether the bakery refused an order that waits for its payment: it is not to be paid any more. */
function isRefusedUnpaid({ status, fulfilment }: Order) {
  return status === 'pending' && fulfilment === 'refused';
}

function hasProgress(order: Order) {
  return isPaid(order) || (order.fulfilment !== 'new' && !isRefusedUnpaid(order));
}

function OrderState({ order }: { order: Order }) {
  const { label, text, tone } = isRefusedUnpaid(order) ? FULFILMENT.refused : STATUS[order.status];
  return (
    <div role="status" className={`state ${tone}`}>
      <Icon name={TONE_ICONS[tone]} />
      <div>
        <PageHeading>{label}</PageHeading>
        <p>{text}</p>
      </div>
    </div>
  );
}

const STEPS = ['new', 'preparing', 'ready', 'collected'] as const;

/** How far the bakery is with an order. */
function Progress({ step }: { step: Fulfilment }) {
  return (
    <section className="panel" aria-labelledby="progress">
      <h2 id="progress">What we do</h2>
      <p role="status">
        <strong>{FULFILMENT[step].label}.</strong> {FULFILMENT[step].text}
      </p>
      {step !== 'refused' && (
        <ol className="steps">
          {STEPS.map((name) => (
            <li key={name} aria-current={name === step ? 'step' : undefined}>
              {FULFILMENT[name].label}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** What can be done with an order that waits for its payment. */
function PendingActions({ order }: { order: Order }) {
  const cancel = useMutation({ mutationFn: () => cancelOrder(order.order_id) });
  const newPage = useMutation({ mutationFn: () => getPaymentPage(order) });
  const error = cancel.error ?? newPage.error;
  return (
    <div>
      <div className="actions">
        {!isRefusedUnpaid(order) && <PayButton order={order} onGetPage={newPage.mutate} />}
        <ConfirmButton
          className="button quiet"
          label="Cancel order"
          question="Cancel this order?"
          text="It will not be baked."
          yes="Cancel the order"
          onConfirm={() => cancel.mutate()}
        />
      </div>
      <Alert>{error && explain(error)}</Alert>
    </div>
  );
}

function PayButton({ order, onGetPage }: { order: Order; onGetPage: () => void }) {
  if (order.redirect_url === null) return <Button onClick={() => onGetPage()}>Get a payment page</Button>;
  return (
    <a className="button" href={order.redirect_url} target="_blank" rel="noopener">
      Go to the payment page <Icon name="away" />
      <span className="hidden">(new tab)</span>
    </a>
  );
}
