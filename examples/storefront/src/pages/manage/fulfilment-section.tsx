import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { AdminOrder } from '../../api/client';
import { explain } from '../../api/errors';
import { isOpen, isPaid } from '../../api/order-status';
import { changeFulfilments } from '../../api/orders';
import { getRefundableAmount, refundMutationKey, refundOrder } from '../../api/refunds';
import { Badge } from '../../components/badge';
import { Alert } from '../../components/notice';
import { describeFulfilment } from '../../components/order-texts';
import { QuestionButton } from '../../components/question-button';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import {
  canRefuse,
  getNextStep,
  NextStepButton,
  type OrderStepProps,
  PreviousStepButton,
  useStepError,
} from './step-buttons';

/** Fulfilment of an order, with buttons for its steps and its refusal. */
export function FulfilmentSection({ order }: { order: AdminOrder }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The pressed button may have disappeared, because the order is reloaded after a step and after a failure.
  const focusSection = () => heading.current?.focus();
  const { error, callbacks } = useStepError(focusSection);
  // A later refund settles a refund that has failed here.
  const forgetError = useEffectEvent(callbacks.onStart);
  useEffect(() => forgetError(), [order.refunded_amount]);
  const buttonProps = { order, onTaken: focusSection, ...callbacks };
  const mustBePaidFirst = getNextStep(order) === 'preparing' && !isPaid(order);
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
        {!mustBePaidFirst && <NextStepButton {...buttonProps} />}
        {canRefuse(order) && <RefuseButton {...buttonProps} />}
        <PreviousStepButton {...buttonProps} />
      </div>
      <Alert>{error && explain(error)}</Alert>
    </section>
  );
}

/** Button that refuses an order. For a paid order, the question also offers a refund. */
function RefuseButton({ order, onStart, onTaken, onError }: OrderStepProps) {
  const { mutate, isPending } = useMutation({
    mutationKey: refundMutationKey(order.order_id),
    mutationFn: async (answer: string) => {
      const { failure } = await changeFulfilments([order], () => 'refused');
      if (failure) throw failure;
      // The body of the refund form, so that a refund that failed can be repeated there under the same idempotency key.
      if (answer === 'refund')
        await refundOrder(order.order_id, order, { amount: getRefundableAmount(order) });
    },
    onMutate: onStart,
    onSuccess: () => onTaken('refused'),
    onError,
  });
  const amount = formatPrice(getRefundableAmount(order));
  const paidAnswers = { refund: t('refuse.andRefund', { amount }), refuse: t('refuse.withoutRefund') };
  return (
    <QuestionButton
      className="button quiet"
      label={t('refuse.label')}
      question={t('refuse.question')}
      declineLabel={t('refuse.no')}
      isBusy={isPending}
      text={isPaid(order) ? t('refuse.paidText', { amount }) : t('refuse.unpaidText')}
      answers={isPaid(order) ? paidAnswers : { refuse: t('refuse.yes') }}
      onAnswer={mutate}
    />
  );
}
