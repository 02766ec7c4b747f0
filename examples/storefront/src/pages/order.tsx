import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useParams } from 'react-router';
import type { Fulfilment, Order } from '../api/client';
import { explain } from '../api/errors';
import {
  cancelOrder,
  hasFailedPayment,
  isOpen,
  isPaid,
  orderDetail,
  requestPaymentPage,
} from '../api/orders';
import { formatDayAndClock, useToday } from '../calendar';
import { Button } from '../components/button';
import { QuestionButton } from '../components/question-button';
import { Icon } from '../components/icon';
import { describeOrder } from '../components/order-labels';
import { OrderAgainButton } from '../components/order-again-button';
import { OrderSummary } from '../components/order-summary';
import { BackLink, focusHeading, PageHeading } from '../components/page';
import { Alert, Loaded } from '../components/notice';
import { ShopContact } from '../components/shop-contact';
import { t } from '../i18n';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const TONE_ICONS = { waiting: 'clock', good: 'check', bad: 'cross', plain: 'orders' } as const;

export default function OrderPage() {
  const query = useQuery(orderDetail(useParams().id ?? ''));
  const missing = { icon: 'orders', title: t('order.missing'), text: t('order.missingText') };
  return (
    <div className="page narrow">
      <BackLink to="/orders">{t('orders.title')}</BackLink>
      <Loaded query={query} title={t('order.title')} missing={missing}>
        {({ order }) => (
          <article className="order">
            <OrderState order={order} />
            {isOpen(order) && <OpenOrderActions order={order} />}
            {hasProgress(order) && <Progress step={order.fulfilment} />}
            <OrderSummary order={order} />
            <div className="order-foot">
              <OrderAgainButton order={order} />
              <ShopContact orderId={order.order_id} />
            </div>
          </article>
        )}
      </Loaded>
    </div>
  );
}

function hasProgress(order: Order) {
  const { fulfilment } = order;
  return fulfilment === 'new' ? isPaid(order) : fulfilment !== 'refused';
}

function OrderState({ order }: { order: Order }) {
  const { label, text, tone } = describeOrder(order);
  return (
    <div role="status" className={`state tone-${tone}`}>
      <Icon name={TONE_ICONS[tone]} />
      <div>
        <PageHeading>{label}</PageHeading>
        <p>{text}</p>
      </div>
    </div>
  );
}

const STEPS = ['new', 'preparing', 'ready', 'collected'] as const;

function Progress({ step }: { step: Fulfilment }) {
  return (
    <section className="panel" aria-labelledby="progress">
      <h2 id="progress">{t('order.progress')}</h2>
      <p role="status">
        <strong>{t(`fulfilment.${step}`)}.</strong> {t(`fulfilment.${step}.text`)}
      </p>
      <ol className="steps">
        {STEPS.map((name) => (
          <li key={name} aria-current={name === step ? 'step' : undefined}>
            {t(`fulfilment.${name}`)}
          </li>
        ))}
      </ol>
    </section>
  );
}

function OpenOrderActions({ order }: { order: Order }) {
  // One mutation for both actions, so that the error of one disappears when the other starts.
  const { mutate, isPending, error } = useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSuccess: focusHeading,
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
            onRequestPage={() => mutate(() => requestPaymentPage(order))}
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

/** Time until which an order can be paid, with a countdown in the last hour. Screen readers do not read the countdown. */
function PayUntil({ time }: { time: string }) {
  const today = useToday();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const end = formatDayAndClock(time, today);
  const remainingMs = Math.max(0, Date.parse(time) - now);
  return (
    <p className="pay-until">
      <strong>{remainingMs === 0 ? t('order.payOver') : t('order.payUntil', { time: end })}</strong>{' '}
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
      <Button aria-disabled={isBusy} onClick={onRequestPage}>
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
