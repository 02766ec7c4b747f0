import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useParams } from 'react-router';
import type { AdminOrder } from '../../api/client';
import { explain } from '../../api/errors';
import { adminOrderDetail, getRefundableAmount, isPaid, refundOrder, setFulfilment } from '../../api/orders';
import { QuestionButton } from '../../components/confirm-button';
import { Badge, FULFILMENT_TEXTS } from '../../components/order-labels';
import { OrderSummary } from '../../components/order-summary';
import { Alert, BackLink, Loaded } from '../../components/page';
import { formatPrice } from '../../format';
import { getNextStep, StepButton } from './fulfilment';
import { ManagePage } from './manage-page';
import { PaymentSection } from './payment-section';

const MISSING = {
  icon: 'orders',
  title: 'There is no such order',
  text: 'Search for it in the list of orders.',
};

/** Order of a customer: contact, fulfilment, items, refund and payment history (`notifications`). */
export default function ManageOrderPage() {
  const query = useQuery(adminOrderDetail(useParams().id ?? ''));
  return (
    <ManagePage title="Order">
      <BackLink to="/manage/orders">Back to the list</BackLink>
      <Loaded query={query} missing={MISSING}>
        {({ order, notifications }) => (
          <article key={order.order_id} className="order">
            <Customer order={order} />
            <FulfilmentSection order={order} />
            <OrderSummary order={order} />
            <PaymentSection order={order} entries={notifications} />
          </article>
        )}
      </Loaded>
    </ManagePage>
  );
}

function Customer({ order: { customer } }: { order: AdminOrder }) {
  return (
    <section className="panel" aria-labelledby="customer">
      <h2 id="customer">Customer</h2>
      <p>
        <strong>{customer.fullname}</strong>
        <br />
        <a href={`mailto:${encodeURIComponent(customer.email)}`}>{customer.email}</a>
      </p>
    </section>
  );
}

function FulfilmentSection({ order }: { order: AdminOrder }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [error, setError] = useState<Error | null>(null);
  // The pressed button may have disappeared, because the order is reloaded after a step and after a failure.
  const focus = () => heading.current?.focus();
  const [next] = getNextStep(order);
  const isPaymentMissing = next === 'preparing' && !isPaid(order);
  return (
    <section className="panel" aria-labelledby="fulfilment">
      <h2 id="fulfilment" ref={heading} tabIndex={-1}>
        Fulfilment
      </h2>
      <p role="status">
        <Badge {...FULFILMENT_TEXTS[order.fulfilment]} />
      </p>
      {isPaymentMissing && <p className="hint">The order can be prepared once it is paid.</p>}
      {next && (
        <div className="actions">
          {!isPaymentMissing && (
            <StepButton
              order={order}
              onTaken={focus}
              onError={(failure) => {
                setError(failure);
                if (failure) focus();
              }}
            />
          )}
          <RefuseButton order={order} onError={setError} onSettled={focus} />
        </div>
      )}
      <Alert>{error && explain(error)}</Alert>
    </section>
  );
}

interface RefuseButtonProps {
  order: AdminOrder;
  /** Called with null when the refusal is confirmed, so that the message of an earlier error disappears. */
  onError: (error: Error | null) => void;
  onSettled: () => void;
}

/** Button that refuses an order. For a paid order, the question also offers a refund. */
function RefuseButton({ order, onError, onSettled }: RefuseButtonProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: async (answer: string) => {
      await setFulfilment(order.order_id, 'refused');
      if (answer === 'refund') await refundOrder(order, {});
    },
    onMutate: () => onError(null),
    onError,
    onSettled,
  });
  const amount = formatPrice(getRefundableAmount(order));
  const paid = {
    text: `The customer gets a mail. They have paid ${amount} that is not refunded yet. You can also refund it later.`,
    answers: { refund: `Refuse and refund ${amount}`, refuse: 'Refuse without a refund' },
  };
  const unpaid = {
    text: 'The customer gets a mail and can no longer pay for the order.',
    answers: { refuse: 'Refuse the order' },
  };
  return (
    <QuestionButton
      className="button quiet"
      label="Refuse"
      question="Refuse this order?"
      no="Keep the order"
      isBusy={isPending}
      onAnswer={(answer) => mutate(answer)}
      {...(isPaid(order) ? paid : unpaid)}
    />
  );
}
