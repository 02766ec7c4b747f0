import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { Fulfilment, Order } from '../api/client';
import { isOpen, isPaid, isRefundedInFull } from '../api/order-status';
import { orderDetail } from '../api/orders';
import { BackLink } from '../components/back-link';
import type { Tone } from '../components/badge';
import { Icon, type IconName } from '../components/icon';
import { Loaded } from '../components/loaded';
import type { NoticeProps } from '../components/notice';
import { OrderActions } from '../components/order-actions';
import { OrderAgainButton } from '../components/order-again-button';
import { OrderSummary } from '../components/order-summary';
import { describeFulfilment, describeOrder, FULFILMENTS } from '../components/order-texts';
import { PageHeading } from '../components/page-heading';
import { ShopContact } from '../components/shop-contact';
import { t } from '../i18n';

const TONE_ICONS: Record<Tone, IconName> = {
  waiting: 'clock',
  success: 'check',
  error: 'cross',
  plain: 'orders',
};

/** Steps of an order that is not refused. */
const PROGRESS_STEPS = FULFILMENTS.filter((name) => name !== 'refused');

export default function OrderPage() {
  const query = useQuery(orderDetail(useParams().id ?? ''));
  const missing: NoticeProps = { icon: 'orders', title: t('order.missing'), text: t('order.missingText') };
  return (
    <div className="page narrow">
      <BackLink to="/orders">{t('orders.title')}</BackLink>
      <Loaded query={query} title={t('order.title')} missing={missing}>
        {({ order }) => (
          <article className="order">
            <OrderState order={order} />
            {isOpen(order) && <OrderActions order={order} />}
            {shouldShowProgress(order) && <Progress step={order.fulfilment} />}
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

/** Returns true for a paid or started order, unless it was refused, or refunded in full before its collection. */
function shouldShowProgress(order: Order) {
  const { fulfilment } = order;
  if (fulfilment === 'new') return isPaid(order);
  return fulfilment === 'collected' || (fulfilment !== 'refused' && !isRefundedInFull(order));
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

function Progress({ step }: { step: Fulfilment }) {
  const { label, text } = describeFulfilment(step);
  return (
    <section className="panel" aria-labelledby="progress">
      <h2 id="progress">{t('order.progress')}</h2>
      <p role="status">
        <strong>{label}.</strong> {text}
      </p>
      <ol className="steps">
        {PROGRESS_STEPS.map((name) => (
          <li key={name} aria-current={name === step ? 'step' : undefined}>
            {t(`fulfilment.${name}`)}
          </li>
        ))}
      </ol>
    </section>
  );
}
