import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { AdminOrder, Fulfilment } from '../../api/client';
import { explain } from '../../api/errors';
import { isOpen, isPaid } from '../../api/order-status';
import { getRefundableAmount, readRefundedAmount, refundMutationKey, refundOrder } from '../../api/refunds';
import { Badge } from '../../components/badge';
import { Alert } from '../../components/notice';
import { describeFulfilment } from '../../components/order-texts';
import { QuestionButton } from '../../components/question-button';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import { canRefuse, getNextStep, NextStepButton, PreviousStepButton, takeStep } from './step-buttons';

/** Fulfilment of an order, with buttons for its steps and its refusal. */
export function FulfilmentSection({ order }: { order: AdminOrder }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [amountAtError, setAmountAtError] = useState<number>();
  // One mutation for all actions, so that the error of one disappears when another starts.
  const { mutate, isPending, error } = useMutation({
    mutationKey: refundMutationKey(order.order_id),
    mutationFn: takeAction,
    // After the reload: the sum that the page shows together with the error.
    onError: () => setAmountAtError(readRefundedAmount(order.order_id)),
    // The pressed button may have disappeared, because the order is reloaded after an action and after a failure.
    onSettled: () => heading.current?.focus(),
  });
  // A refund after that reload settles the one that has failed here, so the error disappears.
  const shownError = amountAtError === order.refunded_amount ? error : null;
  const mustBePaidFirst = getNextStep(order) === 'preparing' && !isPaid(order);
  const stepProps = { order, isBusy: isPending, onTakeStep: (step: Fulfilment) => mutate({ order, step }) };
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
        {!mustBePaidFirst && <NextStepButton {...stepProps} />}
        {canRefuse(order) && (
          <RefuseButton
            order={order}
            isBusy={isPending}
            onRefuse={(andRefund) => mutate({ order, step: 'refused', andRefund })}
          />
        )}
        <PreviousStepButton {...stepProps} />
      </div>
      <Alert>{shownError && explain(shownError)}</Alert>
    </section>
  );
}

interface Action {
  order: AdminOrder;
  step: Fulfilment;
  /** True if a refusal also refunds the payment. */
  andRefund?: boolean;
}

async function takeAction({ order, step, andRefund = false }: Action) {
  const { changed, errors } = await takeStep([order], step);
  const error = errors[order.order_id];
  if (error) throw error;
  // Refund only if this request refused the order: a colleague who refused it may have decided against a refund.
  if (!andRefund || changed.length === 0) return;
  // Send the amount, as the refund form does: a repeated refund there then has the same idempotency key.
  await refundOrder(order.order_id, order, { amount: getRefundableAmount(order) });
}

interface RefuseButtonProps {
  order: AdminOrder;
  isBusy: boolean;
  onRefuse: (andRefund: boolean) => void;
}

/** Button that refuses an order. For a paid order, the question also offers a refund. */
function RefuseButton({ order, isBusy, onRefuse }: RefuseButtonProps) {
  const amount = formatPrice(getRefundableAmount(order));
  const paidAnswers = { refund: t('refuse.andRefund', { amount }), refuse: t('refuse.withoutRefund') };
  return (
    <QuestionButton
      className="button quiet"
      label={t('refuse.label')}
      question={t('refuse.question')}
      declineLabel={t('refuse.no')}
      isBusy={isBusy}
      text={isPaid(order) ? t('refuse.paidText', { amount }) : t('refuse.unpaidText')}
      answers={isPaid(order) ? paidAnswers : { refuse: t('refuse.yes') }}
      onAnswer={(answer) => onRefuse(answer === 'refund')}
    />
  );
}
