import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { Fulfilment, Order } from '../api/client';
import { explain } from '../api/errors';
import { cancelOrder, isPaid, orderDetail, requestPaymentPage } from '../api/orders';
import { Button } from '../components/button';
import { ConfirmButton } from '../components/confirm-button';
import { Icon } from '../components/icon';
import { describeOrder, FULFILMENT_TEXTS } from '../components/order-labels';
import { OrderSummary } from '../components/order-summary';
import { Alert, BackLink, focusHeading, Loaded, PageHeading } from '../components/page';

const MISSING = {
  icon: 'orders',
  title: 'There is no such order',
  text: 'It may belong to another account.',
};
const TONE_ICONS = { waiting: 'clock', good: 'check', bad: 'cross', plain: 'orders' } as const;

export function OrderPage() {
  const query = useQuery(orderDetail(useParams().id ?? ''));
  return (
    <div className="page narrow">
      <BackLink to="/orders">Your orders</BackLink>
      <Loaded query={query} title="Order" missing={MISSING}>
        {({ order }) => (
          <article className="order">
            <OrderState order={order} />
            {order.status === 'pending' && !isRefused(order) && <PendingActions order={order} />}
            {hasProgress(order) && <Progress step={order.fulfilment} />}
            <OrderSummary order={order} />
          </article>
        )}
      </Loaded>
    </div>
  );
}

function isRefused({ fulfilment }: Order) {
  return fulfilment === 'refused';
}

function hasProgress(order: Order) {
  return !isRefused(order) && (isPaid(order) || order.fulfilment !== 'new');
}

function OrderState({ order }: { order: Order }) {
  const { label, text, tone } = describeOrder(order);
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

function Progress({ step }: { step: Fulfilment }) {
  return (
    <section className="panel" aria-labelledby="progress">
      <h2 id="progress">Progress</h2>
      <p role="status">
        <strong>{FULFILMENT_TEXTS[step].label}.</strong> {FULFILMENT_TEXTS[step].text}
      </p>
      <ol className="steps">
        {STEPS.map((name) => (
          <li key={name} aria-current={name === step ? 'step' : undefined}>
            {FULFILMENT_TEXTS[name].label}
          </li>
        ))}
      </ol>
    </section>
  );
}

function PendingActions({ order }: { order: Order }) {
  const cancel = useMutation({ mutationFn: () => cancelOrder(order.order_id), onSuccess: focusHeading });
  const requestPage = useMutation({ mutationFn: () => requestPaymentPage(order), onSuccess: focusHeading });
  const error = cancel.error ?? requestPage.error;
  return (
    <div>
      <div className="actions">
        <PayButton order={order} onRequestPage={requestPage.mutate} />
        <ConfirmButton
          className="button quiet"
          label="Cancel order"
          question="Cancel this order?"
          text="It will not be baked."
          yes="Cancel the order"
          isBusy={cancel.isPending}
          onConfirm={() => cancel.mutate()}
        />
      </div>
      <Alert>{error && explain(error)}</Alert>
    </div>
  );
}

function PayButton({ order, onRequestPage }: { order: Order; onRequestPage: () => void }) {
  if (order.redirect_url === null) return <Button onClick={() => onRequestPage()}>Get a payment page</Button>;
  return (
    <a className="button" href={order.redirect_url} target="_blank" rel="noopener">
      Go to the payment page <Icon name="away" />
      <span className="visually-hidden">(new tab)</span>
    </a>
  );
}
