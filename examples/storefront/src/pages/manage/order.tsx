import { useMutation, useQuery } from '@tanstack/react-query';
import { type MouseEvent, useRef } from 'react';
import { useParams } from 'react-router';
import type { AdminOrder, Fulfilment, PaymentEntry } from '../../api/client';
import { explain } from '../../api/errors';
import { adminOrderDetail, fulfilOrder, isPaid } from '../../api/orders';
import { Button } from '../../components/button';
import { ConfirmButton } from '../../components/confirm-button';
import { Badge, FULFILMENT, OrderSummary, STATUS } from '../../components/orders';
import { Alert, Loaded } from '../../components/page';
import { formatTime } from '../../format';
import { ManagePage } from './manage-page';

const MISSING = { icon: 'orders', title: 'There is no such order', text: 'Look for it in the list.' };

/** An order of a customer: whose it is, what is done with it, what was ordered and how it was paid. */
export default function ManageOrderPage() {
  const query = useQuery(adminOrderDetail(useParams().id ?? ''));
  return (
    <ManagePage title="Order">
      <Loaded query={query} missing={MISSING}>
        {({ order, notifications }) => (
          <article key={order.order_id} className="order">
            <Customer customer={order.customer} />
            <FulfilmentSection order={order} />
            <OrderSummary order={order} />
            <Payment order={order} entries={notifications} />
          </article>
        )}
      </Loaded>
    </ManagePage>
  );
}

function Customer({ customer: { fullname, email } }: Pick<AdminOrder, 'customer'>) {
  return (
    <section className="panel" aria-labelledby="customer">
      <h2 id="customer">Customer</h2>
      <p>
        <strong>{fullname}</strong>
        <br />
        <a href={`mailto:${encodeURIComponent(email)}`}>{email}</a>
      </p>
    </section>
  );
}

/** The step that comes next, and the words of its button (contract 13.11). */
const NEXT: Partial<Record<Fulfilment, [Fulfilment, string]>> = {
  new: ['preparing', 'Start preparing'],
  preparing: ['ready', 'Ready to be collected'],
  ready: ['collected', 'Handed over'],
};

function FulfilmentSection({ order }: { order: AdminOrder }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (step: Fulfilment) => fulfilOrder(order.order_id, step),
    // The button that was pressed goes away with its step.
    onSettled: () => heading.current?.focus(),
  });
  const [next, label] = NEXT[order.fulfilment] ?? [];
  const isUnpaid = next === 'preparing' && !isPaid(order);
  const takeNext = ({ detail }: MouseEvent) => {
    // The second click of a double-click is not meant for the step after this one.
    if (next !== undefined && detail < 2) mutate(next);
  };
  return (
    <section className="panel" aria-labelledby="fulfilment">
      <h2 id="fulfilment" ref={heading} tabIndex={-1}>
        Fulfilment
      </h2>
      <p role="status">
        <Badge {...FULFILMENT[order.fulfilment]} />
      </p>
      {isUnpaid && <p className="hint">It can be prepared when it is paid.</p>}
      {next && (
        <div className="actions">
          {!isUnpaid && (
            <Button aria-disabled={isPending} onClick={takeNext}>
              {label}
            </Button>
          )}
          <ConfirmButton
            className="button quiet"
            label="Refuse"
            question="Refuse this order?"
            text="The customer sees it. A payment is not given back by this."
            yes="Refuse the order"
            onConfirm={() => mutate('refused')}
          />
        </div>
      )}
      <Alert>{error && explain(error)}</Alert>
    </section>
  );
}

const SOURCES = { notification: 'Notification', reconciliation: 'We asked', cancellation: 'We cancelled' };
const OUTCOMES = {
  applied: 'applied',
  duplicate: 'known already',
  late: 'too late to change anything',
  rejected: 'not understood',
};

function Payment({ order, entries }: { order: AdminOrder; entries: PaymentEntry[] }) {
  return (
    <section className="panel" aria-labelledby="payment">
      <h2 id="payment">Payment</h2>
      <p>
        <Badge {...STATUS[order.status]} /> {order.payment_type?.replaceAll('_', ' ')}
      </p>
      {entries.length === 0 && <p className="hint">The payment partner has said nothing yet.</p>}
      <ol className="history">
        {entries.map(({ id, received_at, source, outcome, transaction_status }) => (
          <li key={id}>
            <strong>{transaction_status ?? 'No status'}</strong>
            <small>
              {formatTime(received_at)} · {SOURCES[source]}, {OUTCOMES[outcome]}
            </small>
          </li>
        ))}
      </ol>
      {entries.length === 50 && <p className="hint">These are the first 50 entries.</p>}
    </section>
  );
}
