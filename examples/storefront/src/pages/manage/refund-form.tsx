import { useIsMutating, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { explain, getFieldMessages, hasCode } from '../../api/errors';
import {
  getRefundableAmount,
  type Refund,
  type RefundablePayment,
  readRefundedAmount,
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

/** Form that refunds all or part of a payment, and the failure of the latest refund. */
export function RefundForm({ orderId, payment, label, isDue }: RefundFormProps) {
  const mutationKey = refundMutationKey(orderId);
  const { mutate, error } = useMutation({
    mutationKey,
    mutationFn: (refund: Refund & { amount: number }) => refundOrder(orderId, payment, refund),
    onSuccess: (_, { amount }) => {
      showToast(t('refund.done', { amount: formatPrice(amount) }));
      focusHeading();
    },
    onError: (failure) => {
      if (!hasCode(failure, 409)) return;
      // The reload may have replaced the pressed button.
      focusHeading();
      // Without anything left to refund, the form disappears together with its message.
      const refundedAmount = readRefundedAmount(orderId, payment.transaction_id);
      if (refundedAmount === payment.gross_amount) showToast(t('refund.already'));
    },
  });
  // Also true while another form refunds a payment of the order, or the order takes a step, which may be a refusal with a refund.
  const isRefunding = useIsMutating({ mutationKey }) > 0;
  return (
    <>
      <RefundDetails
        // A new key resets the fields after a refund, also after a refund by somebody else.
        key={payment.refunded_amount}
        refundable={getRefundableAmount(payment)}
        label={label}
        isOpen={isDue}
        isBusy={isRefunding}
        messages={getFieldMessages(error, FIELDS)}
        onRefund={mutate}
      />
      <Alert>{error && explain(error, FIELDS)}</Alert>
    </>
  );
}

interface RefundDetailsProps {
  refundable: number;
  label: string;
  isOpen: boolean;
  isBusy: boolean;
  messages: Record<string, string>;
  onRefund: (refund: Refund & { amount: number }) => void;
}

/** Fields and button of the form. */
function RefundDetails({ refundable, label, isOpen, isBusy, messages, onRefund }: RefundDetailsProps) {
  const [text, setText] = useState(String(refundable));
  const [reason, setReason] = useState('');
  const [isManual, setManual] = useState(false);
  const amount = Number(parsePrice(text) ?? NaN);
  // Never send NaN: JSON turns NaN into null, and for null the service refunds all that is not refunded yet.
  const isAmountValid = Number.isInteger(amount) && amount >= 1 && amount <= refundable;
  const refund = {
    amount,
    ...(reason !== '' && { reason }),
    ...(isManual && { manual: true }),
  };
  return (
    <details className="refund" open={isOpen}>
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
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <label className="check">
          <input type="checkbox" checked={isManual} onChange={({ target }) => setManual(target.checked)} />
          {t('refund.byHand')}
        </label>
        <QuestionButton
          className="button quiet"
          label={t('manage.refund')}
          disabled={!isAmountValid}
          isBusy={isBusy}
          question={t('refund.question', { amount: formatPrice(amount) })}
          text={isManual ? t('refund.manualText') : t('refund.gatewayText')}
          answers={{ confirm: isManual ? t('refund.record') : t('refund.yes') }}
          declineLabel={t('refund.no')}
          onAnswer={() => onRefund(refund)}
        />
      </div>
    </details>
  );
}
