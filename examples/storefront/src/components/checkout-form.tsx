import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useNavigate } from 'react-router';
import { placeOrder } from '../api/checkout';
import type { Shop } from '../api/client';
import { explain, getFieldMessages, LocalizedError } from '../api/errors';
import { t } from '../i18n';
import { type CartLine, removeOrderedPieces } from '../state/cart';
import {
  changeCheckoutDetails,
  type CheckoutDetails,
  clearOrderDetails,
  useCheckoutDetails,
} from '../state/checkout-details';
import { Button } from './button';
import { TextArea, TextField } from './field';
import { Alert } from './notice';
import { focusHeading } from './page-heading';
import { listPickupTimes, PickupPicker } from './pickup-picker';

const FIELDS = ['pickup_at', 'phone', 'note'];

/**
 * Form for the pickup time, phone number and note of an order. Its button orders these lines. Not a `Form`, because Enter in a field
 * must not order, and because the details are stored while they are typed.
 */
export function CheckoutForm({ lines, shop }: { lines: CartLine[]; shop: Shop }) {
  const navigate = useNavigate();
  const form = useRef<HTMLDivElement>(null);
  const details = useCheckoutDetails();
  const times = useMemo(() => listPickupTimes(shop), [shop]);
  const hasTimes = times.length > 0;
  const isDisabled = lines.length === 0 || !hasTimes;
  const chosen = times.find(({ at }) => at === details.pickup_at);
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: async (sent: { lines: CartLine[]; details: CheckoutDetails }) => {
      if (chosen === undefined) throw new LocalizedError(() => t('pickup.missing'), 'pickup_at');
      return placeOrder(sent.lines, { ...sent.details, pickup_at: chosen.at });
    },
    onSuccess: ({ order_id, redirect_url }, sent) => {
      // Keep sold-out products, and pieces that were added while the order was being sent.
      removeOrderedPieces(sent.lines);
      clearOrderDetails();
      // If the browser blocks the new tab, the page of the order has a link.
      if (redirect_url !== null) window.open(redirect_url, '_blank', 'noopener');
      void navigate(`/orders/${order_id}`);
    },
  });
  // Without pickup times, the alert shows the message of the field that is missing.
  const fields = hasTimes ? FIELDS : FIELDS.filter((field) => field !== 'pickup_at');
  const messages = getFieldMessages(error, fields);
  // The message of a field disappears when the value of the field changes.
  const getMessage = (field: keyof CheckoutDetails) =>
    variables?.details[field] === details[field] ? messages[field] : undefined;
  const focusAfterError = useEffectEvent(() => {
    // The pressed button would lose the focus, because it is disabled now.
    if (error && isDisabled) focusHeading();
    else form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  });
  useEffect(() => focusAfterError(), [error]);
  return (
    <div className="form" ref={form}>
      {/* Without pickup times, `ClosedNote` says why nothing can be ordered. */}
      {hasTimes && (
        <PickupPicker
          times={times}
          chosen={details.pickup_at}
          message={getMessage('pickup_at')}
          onChoose={(pickup_at) => changeCheckoutDetails({ pickup_at })}
        />
      )}
      <TextField
        label={t('order.phone')}
        hint={t('cart.phoneHint')}
        message={getMessage('phone')}
        type="tel"
        autoComplete="tel"
        maxLength={32}
        value={details.phone}
        onChange={({ target }) => changeCheckoutDetails({ phone: target.value })}
      />
      <TextArea
        label={t('order.note')}
        hint={t('cart.noteHint')}
        message={getMessage('note')}
        value={details.note}
        onChange={({ target }) => changeCheckoutDetails({ note: target.value })}
      />
      <p className="hint">{t('cart.payHint')}</p>
      <Alert>{error && explain(error, fields)}</Alert>
      <Button
        className="button wide"
        isBusy={isPending}
        disabled={isDisabled}
        onClick={() => mutate({ lines, details })}
      >
        {t('cart.order')}
      </Button>
    </div>
  );
}
