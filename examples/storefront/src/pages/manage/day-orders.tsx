import { useRef, useState } from 'react';
import type { AdminOrder } from '../../api/client';
import { explain } from '../../api/errors';
import { formatShortDate, formatTime, toLocalDate } from '../../calendar';
import { Alert, Notice } from '../../components/notice';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { DayOrder } from './day-order';
import { getNextStep, StepButton, useStepError } from './step-buttons';

interface DayOrdersProps {
  /** Orders of the day sheet, sorted by pickup time. They are paid and not refused. */
  orders: AdminOrder[];
  /** Paid orders of earlier days that nobody has collected. */
  overdue: AdminOrder[];
}

/** Paid orders that the staff work on during a day: overdue orders of earlier days, then orders to hand over, then collected ones. */
export function DayOrders({ orders, overdue }: DayOrdersProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const toHandOver = orders.filter(({ fulfilment }) => fulfilment !== 'collected');
  const collected = orders.filter(({ fulfilment }) => fulfilment === 'collected');
  // The pressed button may have disappeared, because the orders are reloaded after a step and after a failure.
  const focusDayHeading = () => heading.current?.focus();
  const { error: groupError, callbacks } = useStepError(focusDayHeading);
  /** Errors of single orders by order id. */
  const [orderErrors, setOrderErrors] = useState<Record<string, Error | null>>({});
  // An order leaves the page, for example, after a colleague has refused it. Its error is then shown above the orders.
  const isShown = (id: string) => [...orders, ...overdue].some(({ order_id }) => order_id === id);
  const messages = Object.entries(orderErrors)
    .filter(([id]) => !isShown(id))
    .flatMap(([id, error]) => (error ? `${formatOrderNumber(id)}: ${explain(error)}` : []));
  if (groupError) messages.push(explain(groupError));
  /** Sets the errors of orders, and removes those of orders that have left the page. */
  const changeErrors = (changed: Record<string, Error | null> = {}) =>
    setOrderErrors((errors) => {
      const shown = Object.entries(errors).filter(([id]) => isShown(id));
      return { ...Object.fromEntries(shown), ...changed };
    });
  const renderRow = (order: AdminOrder, time = formatPickupTime(order)) => (
    <DayOrder
      key={order.order_id}
      order={order}
      time={time}
      error={orderErrors[order.order_id] ?? null}
      onErrorChange={(error) => changeErrors({ [order.order_id]: error })}
      onMayHaveMoved={focusDayHeading}
    />
  );
  return (
    <section className="day-orders" aria-labelledby="day-orders">
      {overdue.length > 0 && (
        <div>
          <h2>{t('day.overdue', { orders: t('count.orders', { count: overdue.length }) })}</h2>
          <ol className="rows overdue" aria-label={t('day.overdueList')}>
            {overdue.map((order) => renderRow(order, formatPickupDay(order)))}
          </ol>
        </div>
      )}
      <h2 id="day-orders" ref={heading} tabIndex={-1}>
        {orders.length === 0
          ? t('nav.orders')
          : t('day.toHandOver', { orders: t('count.orders', { count: toHandOver.length }) })}
      </h2>
      <Alert>{messages.join(' ')}</Alert>
      <div className="actions">
        {groupByTimeAndStep(toHandOver).map(({ key, time, step, orders: group }) => (
          <StepButton
            key={key}
            className="button quiet"
            orders={group}
            step={step}
            onTaken={focusDayHeading}
            {...callbacks}
            onStart={() => {
              callbacks.onStart();
              changeErrors();
            }}
          >
            {t('day.group', {
              time,
              orders: t('count.orders', { count: group.length }),
              step: t(`step.${step}`),
            })}
          </StepButton>
        ))}
      </div>
      {orders.length === 0 && <Notice icon="orders" title={t('day.empty')} text={t('day.emptyText')} />}
      <ol className="rows" aria-label={t('day.toHandOverList')}>
        {toHandOver.map((order) => renderRow(order))}
      </ol>
      {collected.length > 0 && (
        <div className="collected-orders">
          <h2>{t('day.collected', { count: collected.length })}</h2>
          <ol className="rows collected" aria-label={t('day.collectedList')}>
            {collected.map((order) => renderRow(order))}
          </ol>
        </div>
      )}
    </section>
  );
}

interface OrderGroup {
  key: string;
  time: string;
  step: NonNullable<ReturnType<typeof getNextStep>>;
  orders: AdminOrder[];
}

/** Groups orders with the same pickup time and the same next step. Omits groups of one order. */
function groupByTimeAndStep(orders: AdminOrder[]): OrderGroup[] {
  const groups = new Map<string, OrderGroup>();
  for (const order of orders) {
    const step = getNextStep(order);
    if (step === null) continue;
    const time = formatPickupTime(order);
    const key = `${time} ${step}`;
    const group = groups.get(key) ?? { key, time, step, orders: [] };
    group.orders.push(order);
    groups.set(key, group);
  }
  return [...groups.values()].filter((group) => group.orders.length > 1);
}

function formatPickupTime({ pickup_at }: AdminOrder) {
  return pickup_at === null ? t('day.anyTime') : formatTime(pickup_at);
}

/** Formats the pickup of an order of an earlier day: `24 Nov, 07:00` */
function formatPickupDay(order: AdminOrder) {
  const { pickup_at, completed_at, created_at } = order;
  // An order without a pickup time belongs to the day of its payment. After a partial refund, the API does not state this day.
  const date = formatShortDate(toLocalDate(pickup_at ?? completed_at ?? created_at));
  return `${date}, ${formatPickupTime(order)}`;
}
