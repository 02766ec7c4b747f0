import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useParams } from 'react-router';
import type { AdminOrder, OrderAction } from '../../api/client';
import { explain } from '../../api/errors';
import {
  adminOrderDetail,
  getRefundableAmount,
  isOpen,
  isPaid,
  refundOrder,
  setFulfilment,
} from '../../api/orders';
import { formatDateAndTime } from '../../calendar';
import { QuestionButton } from '../../components/question-button';
import { Badge, describeFulfilment } from '../../components/order-labels';
import { OrderSummary } from '../../components/order-summary';
import { BackLink } from '../../components/page';
import { Alert, Loaded } from '../../components/notice';
import { formatPrice } from '../../format';
import {
  canRefuse,
  getNextStep,
  NextStepButton,
  type OrderStepProps,
  PreviousStepButton,
} from './fulfilment';
import { ManagePage } from './manage-page';
import { PaymentSection } from './payment-section';
import { t } from '../../i18n';

/** Order of a customer: contact, fulfilment, items, payments, refunds and history. */
export default function ManageOrderPage() {
  const query = useQuery(adminOrderDetail(useParams().id ?? ''));
  const missing = { icon: 'orders', title: t('order.missing'), text: t('manage.searchOrder') };
  return (
    <ManagePage title={t('order.title')}>
      <BackLink to="/manage/orders">{t('manage.back')}</BackLink>
      <Loaded query={query} missing={missing}>
        {({ order, notifications: paymentEvents, transactions, actions }) => (
          <article key={order.order_id} className="order">
            <Customer order={order} />
            <FulfilmentSection order={order} />
            <OrderSummary order={order} />
            <PaymentSection order={order} events={paymentEvents} transactions={transactions} />
            <ActionHistory actions={actions} />
          </article>
        )}
      </Loaded>
    </ManagePage>
  );
}

function Customer({ order: { customer } }: { order: AdminOrder }) {
  return (
    <section className="panel" aria-labelledby="customer">
      <h2 id="customer">{t('manage.customer')}</h2>
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
  const buttonProps = {
    order,
    onTaken: focus,
    onError: (failure: Error | null) => {
      setError(failure);
      if (failure) focus();
    },
  };
  const next = getNextStep(order);
  const canTakeNextStep = next !== null && (next !== 'preparing' || isPaid(order));
  return (
    <section className="panel" aria-labelledby="fulfilment">
      <h2 id="fulfilment" ref={heading} tabIndex={-1}>
        {t('manage.fulfilment')}
      </h2>
      <p role="status">
        <Badge {...describeFulfilment(order.fulfilment)} />
      </p>
      {isOpen(order) && <p className="hint">{t('manage.notPaid')}</p>}
      <div className="actions">
        {canTakeNextStep && <NextStepButton {...buttonProps} />}
        {canRefuse(order) && <RefuseButton {...buttonProps} />}
        <PreviousStepButton {...buttonProps} />
      </div>
      <Alert>{error && explain(error)}</Alert>
    </section>
  );
}

/** Button that refuses an order. For a paid order, the question also offers a refund. */
function RefuseButton({ order, onTaken, onError }: OrderStepProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: async (answer: string) => {
      await setFulfilment(order.order_id, 'refused');
      if (answer === 'refund') await refundOrder(order.order_id, order, {});
    },
    onMutate: () => onError(null),
    onSuccess: () => onTaken?.('refused'),
    onError,
  });
  const amount = formatPrice(getRefundableAmount(order));
  const paid = {
    text: t('refuse.paidText', { amount }),
    answers: { refund: t('refuse.andRefund', { amount }), refuse: t('refuse.withoutRefund') },
  };
  const unpaid = {
    text: t('refuse.unpaidText'),
    answers: { refuse: t('refuse.yes') },
  };
  return (
    <QuestionButton
      className="button quiet"
      label={t('refuse.label')}
      question={t('refuse.question')}
      declineLabel={t('refuse.no')}
      isBusy={isPending}
      onAnswer={(answer) => mutate(answer)}
      {...(isPaid(order) ? paid : unpaid)}
    />
  );
}

/** Steps, refusals, cancellations and refunds of an order, in plain words. */
function ActionHistory({ actions }: { actions: OrderAction[] }) {
  if (actions.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="actions">
      <h2 id="actions">{t('actions.title')}</h2>
      <ol className="history">
        {actions.map((action, index) => (
          <li key={index}>{describeAction(action)}</li>
        ))}
      </ol>
    </section>
  );
}

function describeAction({ action, by, at, amount, reason }: OrderAction) {
  const what =
    action === 'refund' ? t('actions.refund', { amount: formatPrice(amount ?? 0) }) : t(`actions.${action}`);
  const sentence = by === null ? what : t('actions.by', { what, name: by.fullname });
  const text = `${sentence}, ${formatDateAndTime(at)}`;
  return reason === null ? text : `${text}: ${reason}`;
}
