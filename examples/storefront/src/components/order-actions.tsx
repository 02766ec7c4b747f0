import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Order } from '../api/client';
import { explain, hasCode } from '../api/errors';
import { hasFailedPayment } from '../api/order-status';
import { cancelOrder, requestPaymentPage } from '../api/orders';
import { formatDayAndTime } from '../calendar';
import { t } from '../i18n';
import { Button } from './button';
import { Icon } from './icon';
import { Alert } from './notice';
import { focusHeading } from './page-heading';
import { QuestionButton } from './question-button';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/** Buttons that pay or cancel an open order, and the time until which the order can be paid. */
export function OrderActions({ order }: { order: Order }) {
  // One mutation for both actions, so that the error of one disappears when the other starts.
  const { mutate, isPending, error } = useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSuccess: focusHeading,
    // After a 409, the order has changed, so the pressed button may have disappeared.
    onError: (failure) => {
      if (hasCode(failure, 409)) focusHeading();
    },
  });
  // While a payment is authorized or captured, the customer cannot start another one.
  const canPay = order.status === 'pending' || hasFailedPayment(order);
  return (
    <div>
      {canPay && order.pay_until !== null && <PayUntil time={order.pay_until} />}
      <div className="actions">
        {canPay && (
          <PayButton
            order={order}
            isBusy={isPending}
            onRequestPage={() => mutate(() => requestPaymentPage(order.order_id))}
          />
        )}
        <QuestionButton
          className="button quiet"
          label={t('order.cancel')}
          question={t('order.cancelQuestion')}
          text={t('order.cancelText')}
          answers={{ confirm: t('order.cancelYes') }}
          isBusy={isPending}
          onAnswer={() => mutate(() => cancelOrder(order.order_id))}
        />
      </div>
      <Alert>{error && explain(error)}</Alert>
    </div>
  );
}

/**
 * Time until which an order can be paid, with a countdown in the last hour. Screen readers do not read the countdown. Only the
 * countdown depends on the device's clock, which may be wrong: the next poll of the order reports that the time is over.
 */
function PayUntil({ time }: { time: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const remainingMs = Date.parse(time) - now;
  return (
    <p className="pay-until">
      <strong>{t('order.payUntil', { time: formatDayAndTime(time) })}</strong>{' '}
      {remainingMs > 0 && remainingMs < HOUR_MS && (
        <span aria-hidden="true">{formatCountdown(remainingMs)}</span>
      )}
    </p>
  );
}

function formatCountdown(ms: number) {
  const seconds = Math.floor(ms / SECOND_MS);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

interface PayButtonProps {
  order: Order;
  isBusy: boolean;
  onRequestPage: () => void;
}

/** Link to the payment page, or a button that requests a page if there is none or the last payment failed. */
function PayButton({ order, isBusy, onRequestPage }: PayButtonProps) {
  if (order.redirect_url === null || hasFailedPayment(order))
    return (
      <Button isBusy={isBusy} onClick={onRequestPage}>
        {hasFailedPayment(order) ? t('tryAgain') : t('order.getPage')}
      </Button>
    );
  return (
    <a className="button" href={order.redirect_url} target="_blank" rel="noopener">
      {t('order.pay')} <Icon name="away" />
      <span className="visually-hidden">{t('newTab')}</span>
    </a>
  );
}
