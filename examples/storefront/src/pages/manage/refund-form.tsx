import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { AdminOrder } from '../../api/client';
import { explain, getFieldMessages } from '../../api/errors';
import { getRefundableAmount, type Refund, refundOrder } from '../../api/orders';
import { ConfirmButton } from '../../components/confirm-button';
import { TextField } from '../../components/field';
import { Alert, focusHeading } from '../../components/page';
import { formatPrice, parsePrice } from '../../format';
import { toast } from '../../state/toast';

const FIELDS = ['amount', 'reason'];

/** Refunds all or part of a payment, or records that the money was returned by hand. */
export function RefundForm({ order }: { order: AdminOrder }) {
  const refundable = getRefundableAmount(order);
  const [text, setText] = useState(String(refundable));
  const [reason, setReason] = useState('');
  const [isManual, setManual] = useState(false);
  const amount = Number(parsePrice(text));
  // Never send NaN: JSON turns NaN into null, and for null the service refunds all that is not refunded yet.
  const isAmountValid = Number.isInteger(amount) && amount >= 1 && amount <= refundable;
  const refund: Refund = { amount, ...(reason !== '' && { reason }), ...(isManual && { manual: true }) };
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => refundOrder(order, refund),
    onSuccess: () => {
      toast(`${formatPrice(amount)} is refunded.`);
      focusHeading();
    },
  });
  const messages = getFieldMessages(error, FIELDS);
  return (
    <details className="refund" open={order.refund_due}>
      <summary>Refund</summary>
      <div className="form">
        <TextField
          label="Amount in rupiah"
          hint={`A whole amount from 1 to ${formatPrice(refundable)}`}
          message={messages.amount}
          inputMode="numeric"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <TextField
          label="Reason"
          hint="Optional, for your records."
          message={messages.reason}
          maxLength={255}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <label className="check">
          <input type="checkbox" checked={isManual} onChange={({ target }) => setManual(target.checked)} />I
          have returned the money by hand, for example by bank transfer
        </label>
        <Alert>{error && explain(error, { except: FIELDS })}</Alert>
        <ConfirmButton
          className="button quiet"
          label="Refund"
          disabled={!isAmountValid}
          isBusy={isPending}
          question={`Refund ${formatPrice(amount)}?`}
          text={
            isManual
              ? 'This records that you have returned the money. The payment partner returns nothing.'
              : 'The payment partner returns the money to the customer. This cannot be undone.'
          }
          yes={isManual ? 'Record the refund' : 'Refund the money'}
          no="Do not refund"
          onConfirm={() => mutate()}
        />
      </div>
    </details>
  );
}
