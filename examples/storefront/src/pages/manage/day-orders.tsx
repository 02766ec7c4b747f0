import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { AdminOrder, Fulfilment } from '../../api/client';
import { explain } from '../../api/errors';
import { formatShortDate, formatTime, toLocalDate } from '../../calendar';
import { Button } from '../../components/button';
import { Alert, Notice } from '../../components/notice';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { DayOrder } from './day-order';
import { getNextStep, takeStep } from './step-buttons';

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
  const shown = [...overdue, ...orders];
  /** Errors of the latest steps by order id. */
  const [errors, setErrors] = useState<Record<string, Error>>({});
  // An order leaves the page, for example, after a colleague has refused it. Its error is then shown above the orders.
  const messages = Object.entries(errors)
    .filter(([id]) => !shown.some(({ order_id }) => order_id === id))
    .map(describeError);
  const take = async (taken: AdminOrder[], step: Fulfilment) => {
    // Forget the earlier errors of these orders, and those of orders that have left the page.
    const others = shown.filter((order) => !taken.includes(order));
    setErrors((before) => pickErrors(before, others));
    const { errors: failed } = await takeStep(taken, step);
    setErrors((before) => ({ ...before, ...failed }));
    const [firstFailed] = Object.entries(failed);
    // The rows of a group may be far below its button.
    if (taken.length > 1 && firstFailed) showToast(describeError(firstFailed));
    // After any other step, the order stays in its place, and the pressed button takes the following step.
    const mayHaveMoved = taken.length > 1 || step === 'collected' || firstFailed !== undefined;
    if (mayHaveMoved) heading.current?.focus();
  };
  const renderRow = (order: AdminOrder, time = formatPickupTime(order)) => (
    <DayOrder
      key={order.order_id}
      order={order}
      time={time}
      error={errors[order.order_id]}
      onTakeStep={take}
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
        {groupByTimeAndStep(toHandOver).map(({ key, ...group }) => (
          <GroupButton key={key} {...group} onTakeStep={take} />
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
  time: string;
  step: NonNullable<ReturnType<typeof getNextStep>>;
  orders: AdminOrder[];
}

interface GroupButtonProps extends OrderGroup {
  onTakeStep: (orders: AdminOrder[], step: Fulfilment) => Promise<void>;
}

/** Button that takes all orders of a group to their next step. */
function GroupButton({ time, step, orders, onTakeStep }: GroupButtonProps) {
  const { mutate, isPending } = useMutation({ mutationFn: () => onTakeStep(orders, step) });
  const count = t('count.orders', { count: orders.length });
  return (
    <Button className="button quiet" isBusy={isPending} onClick={() => mutate()}>
      {t('day.group', { time, orders: count, step: t(`step.${step}`) })}
    </Button>
  );
}

/** Groups orders with the same pickup time and the same next step. Omits groups of one order. */
function groupByTimeAndStep(orders: AdminOrder[]) {
  const groups = new Map<string, OrderGroup & { key: string }>();
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

function pickErrors(errors: Record<string, Error>, orders: AdminOrder[]) {
  const ids = new Set(orders.map(({ order_id }) => order_id));
  return Object.fromEntries(Object.entries(errors).filter(([id]) => ids.has(id)));
}

function describeError([id, error]: [string, Error]) {
  return `${formatOrderNumber(id)}: ${explain(error)}`;
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
