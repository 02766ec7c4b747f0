import { useMutation, useQuery } from '@tanstack/react-query';
import { BakeryFailure } from 'bakery-client';
import { useEffect, useMemo, useRef } from 'react';
import { useNavigate } from 'react-router';
import { placeOrder } from '../api/checkout';
import type { Shop } from '../api/client';
import { explain, getFieldMessages } from '../api/errors';
import { shopInfo } from '../api/shop';
import { formatPrice } from '../format';
import { t } from '../i18n';
import { type CartLine, countPieces, calculateLineTotal, removeOrderedPieces } from '../state/cart';
import {
  changeCheckoutDetails,
  type CheckoutDetails,
  clearCheckoutDetails,
  useCheckoutDetails,
} from '../state/checkout';
import { useSession } from '../state/session';
import { Button, ButtonLink } from './button';
import { TextField } from './field';
import { Alert, Loaded } from './notice';
import { listPickupTimes, PickupPicker } from './pickup-picker';

const FIELDS = ['pickup_at', 'phone', 'note'];

/**
 * Total of the lines that are not sold out, and the form that orders them. Visitors get a link to the sign-in instead of
 * the form.
 */
export function CartSummary(props: { lines: (CartLine & { isSoldOut: boolean })[] }) {
  const lines = props.lines.filter(({ isSoldOut }) => !isSoldOut);
  const isSignedIn = useSession(({ user }) => user !== null);
  const shop = useQuery({ ...shopInfo, enabled: isSignedIn });
  return (
    <section className="panel summary" aria-label={t('cart.summary')}>
      <p className="sum">
        <span>{t('cart.total', { pieces: t('count.pieces', { count: countPieces(lines) }) })}</span>
        <strong>{formatPrice(lines.reduce((sum, line) => sum + calculateLineTotal(line), 0))}</strong>
      </p>
      {isSignedIn ? (
        <Loaded query={shop}>{(data) => <CheckoutForm lines={lines} shop={data} />}</Loaded>
      ) : (
        <>
          <p className="hint">{t('cart.needsAccount')}</p>
          <ButtonLink className="button wide" to="/login?next=/cart">
            {t('cart.signIn')}
          </ButtonLink>
        </>
      )}
    </section>
  );
}

/** Form for the pickup time, phone number and note of an order. */
function CheckoutForm({ lines, shop }: { lines: CartLine[]; shop: Shop }) {
  const navigate = useNavigate();
  const form = useRef<HTMLDivElement>(null);
  const details = useCheckoutDetails();
  const times = useMemo(() => listPickupTimes(shop), [shop]);
  const chosen = times.find(({ at }) => at === details.pickup_at);
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: async (sent: { lines: CartLine[]; details: CheckoutDetails }) => {
      // Show the missing time like a validation message of the service, so that the field gets the focus.
      if (chosen === undefined) throw new BakeryFailure(400, '', { pickup_at: t('pickup.missing') });
      return placeOrder(sent.lines, { ...sent.details, pickup_at: chosen.at });
    },
    onSuccess: ({ order_id, redirect_url }, sent) => {
      // Keep sold-out products, and pieces that were added while the order was being sent.
      removeOrderedPieces(sent.lines);
      clearCheckoutDetails();
      // If the browser blocks the new tab, the page of the order has a link.
      if (redirect_url !== null) window.open(redirect_url, '_blank', 'noopener');
      void navigate(`/orders/${order_id}`);
    },
  });
  const messages = getFieldMessages(error, FIELDS);
  // The message of a field disappears when the value of the field changes.
  const getMessage = (field: keyof CheckoutDetails) =>
    variables?.details[field] === details[field] ? messages[field] : undefined;
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [error]);
  return (
    <div className="form" ref={form}>
      {/* Without pickup times, `ClosedNote` says why nothing can be ordered. */}
      {times.length > 0 && (
        <PickupPicker
          times={times}
          chosen={chosen}
          message={getMessage('pickup_at')}
          onChoose={({ at }) => changeCheckoutDetails({ pickup_at: at })}
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
      <TextField
        isMultiline
        label={t('order.note')}
        hint={t('cart.noteHint')}
        message={getMessage('note')}
        maxLength={500}
        value={details.note}
        onChange={({ target }) => changeCheckoutDetails({ note: target.value })}
      />
      <p className="hint">{t('cart.payHint')}</p>
      <Alert>{error && explain(error, FIELDS)}</Alert>
      <Button
        className="button wide"
        aria-disabled={isPending}
        disabled={lines.length === 0 || times.length === 0}
        onClick={() => mutate({ lines, details })}
      >
        {t('cart.order')}
      </Button>
    </div>
  );
}
