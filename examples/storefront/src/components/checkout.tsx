import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { useNavigate } from 'react-router';
import { placeOrder } from '../api/checkout';
import type { Shop } from '../api/client';
import { explain, getFieldMessages } from '../api/errors';
import { shopInfo } from '../api/shop';
import { formatCount, formatPrice } from '../format';
import { type CartLine, countPieces, calculateLineTotal, removeFromCart } from '../state/cart';
import { changeCheckoutDetails, clearCheckoutDetails, useCheckoutDetails } from '../state/checkout';
import { useSession } from '../state/session';
import { Button, ButtonLink } from './button';
import { TextField } from './field';
import { Alert, Loaded } from './page';
import { listPickupTimes, PickupPicker } from './pickup-picker';

const FIELDS = ['pickup_at', 'phone', 'note'];

/**
 * Total of these lines, and the form that orders them. Visitors get a link to the sign-in instead of the form. The caller
 * omits lines that are sold out.
 */
export function CartSummary({ lines }: { lines: CartLine[] }) {
  const isSignedIn = useSession(({ person }) => person !== null);
  const shop = useQuery({ ...shopInfo, enabled: isSignedIn });
  return (
    <section className="panel summary" aria-label="Summary">
      <p className="sum">
        <span>Total, {formatCount(countPieces(lines), 'piece')}</span>
        <strong>{formatPrice(lines.reduce((sum, line) => sum + calculateLineTotal(line), 0))}</strong>
      </p>
      {isSignedIn ? (
        <Loaded query={shop}>{(data) => <CheckoutForm lines={lines} shop={data} />}</Loaded>
      ) : (
        <>
          <p className="hint">Sign in or create an account to order. Your cart is kept.</p>
          <ButtonLink className="button wide" to="/login?next=/cart">
            Sign in to order
          </ButtonLink>
        </>
      )}
    </section>
  );
}

/** Form for the pickup time, phone number and note of an order. */
function CheckoutForm({ lines, shop }: { lines: CartLine[]; shop: Shop }) {
  const navigate = useNavigate();
  const section = useRef<HTMLDivElement>(null);
  const details = useCheckoutDetails();
  const times = useMemo(() => listPickupTimes(shop), [shop]);
  const chosen = times.find(({ at }) => at === details.pickupAt) ?? times[0];
  const { mutate, isPending, error } = useMutation({
    mutationFn: (ordered: CartLine[]) => {
      // Store the preselected time, because a later list may begin with another time. A retry must send the same time:
      // another body would get a new idempotency key.
      changeCheckoutDetails({ pickupAt: chosen?.at ?? null });
      return placeOrder(ordered, { ...details, pickupAt: chosen?.at ?? null });
    },
    onSuccess: ({ order_id, redirect_url }, ordered) => {
      // Keep sold-out products, and products that were added while the order was being sent.
      for (const { id } of ordered) removeFromCart(id);
      clearCheckoutDetails();
      // If the browser blocks the new tab, the page of the order has a link.
      if (redirect_url !== null) window.open(redirect_url, '_blank', 'noopener');
      void navigate(`/orders/${order_id}`);
    },
  });
  const messages = getFieldMessages(error, FIELDS);
  useEffect(() => section.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [error]);
  return (
    <div className="form" ref={section}>
      {chosen && (
        <PickupPicker
          times={times}
          timeZone={shop.time_zone}
          chosen={chosen}
          message={messages.pickup_at}
          onChoose={({ at }) => changeCheckoutDetails({ pickupAt: at })}
        />
      )}
      <TextField
        label="Phone"
        hint="Optional, for questions about your order."
        message={messages.phone}
        type="tel"
        autoComplete="tel"
        maxLength={32}
        value={details.phone}
        onChange={({ target }) => changeCheckoutDetails({ phone: target.value })}
      />
      <TextField
        isMultiline
        label="Note"
        hint="Optional, for example a text for the cake."
        message={messages.note}
        maxLength={500}
        value={details.note}
        onChange={({ target }) => changeCheckoutDetails({ note: target.value })}
      />
      <p className="hint">You pay on the page of our payment partner, which opens in a new tab.</p>
      <Alert>{error && explain(error, { except: FIELDS })}</Alert>
      <Button
        className="button wide"
        aria-disabled={isPending}
        disabled={lines.length === 0}
        onClick={() => mutate(lines)}
      >
        Order and pay
      </Button>
    </div>
  );
}
