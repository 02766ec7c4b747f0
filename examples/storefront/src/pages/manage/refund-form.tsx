import { useIsMutating, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { explain, getFieldMessages } from '../../api/errors';
import {
  getRefundableAmount,
  type Refund,
  type RefundablePayment,
  refundMutationKey,
  refundOrder,
} from '../../api/refunds';
import { TextField } from '../../components/field';
import { Alert } from '../../components/notice';
import { focusHeading } from '../../components/page-heading';
import { QuestionButton } from '../../components/question-button';
import { formatPrice, parsePrice } from '../../format';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';

const FIELDS = ['amount', 'reason'];

interface RefundFormProps {
  orderId: string;
  payment: RefundablePayment;
  label: string;
  /** True if the money has to be returned. The form is then open at first. */
  isDue: boolean;
}

/** Refunds all or part of a payment, or records that the money was returned by hand. */
export function RefundForm({ orderId, payment, label, isDue }: RefundFormProps) {
  const refundable = getRefundableAmount(payment);
  const [text, setText] = useState(String(refundable));
  const [reason, setReason] = useState('');
  const [isManual, setManual] = useState(false);
  const amount = Number(parsePrice(text) ?? NaN);
  // Never send NaN: JSON turns NaN into null, and for null the service refunds all that is not refunded yet.
  const isAmountValid = Number.isInteger(amount) && amount >= 1 && amount <= refundable;
  const refund: Refund = {
    amount,
    ...(reason !== '' && { reason }),
    ...(isManual && { manual: true }),
  };
  const mutationKey = refundMutationKey(orderId);
  const { mutate, error } = useMutation({
    mutationKey,
    mutationFn: () => refundOrder(orderId, payment, refund),
    onSuccess: () => {
      showToast(t('refund.done', { amount: formatPrice(amount) }));
      focusHeading();
    },
  });
  // Also true while another form, or the button that refuses the order, refunds a payment of the order.
  const isRefunding = useIsMutating({ mutationKey }) > 0;
  const messages = getFieldMessages(error, FIELDS);
  return (
    <details className="refund" open={isDue}>
      <summary>{label}</summary>
      <div className="form">
        <TextField
          label={t('refund.amount')}
          hint={t('refund.amountHint', { max: formatPrice(refundable) })}
          message={messages.amount}
          inputMode="numeric"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <TextField
          label={t('reason')}
          hint={t('refund.reasonHint')}
          message={messages.reason}
          maxLength={255}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <label className="check">
          <input type="checkbox" checked={isManual} onChange={({ target }) => setManual(target.checked)} />
          {t('refund.byHand')}
        </label>
        <Alert>{error && explain(error, FIELDS)}</Alert>
        <QuestionButton
          className="button quiet"
          label={t('manage.refund')}
          disabled={!isAmountValid}
          isBusy={isRefunding}
          question={t('refund.question', { amount: formatPrice(amount) })}
          text={isManual ? t('refund.manualText') : t('refund.gatewayText')}
          answers={{ confirm: isManual ? t('refund.record') : t('refund.yes') }}
          declineLabel={t('refund.no')}
          onAnswer={() => mutate()}
        />
      </div>
    </details>
  );
}
