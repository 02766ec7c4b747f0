import { useQueries } from '@tanstack/react-query';
import { useFormContext, useWatch } from 'react-hook-form';
import { Link } from 'react-router';
import type { AdminShop } from '../../api/client';
import { daySheet } from '../../api/reports';
import { isClosedOn } from '../../api/shop';
import { formatDate, listDates, useToday } from '../../calendar';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { addDate, addRange, type ShopFormValues } from './shop-values';

/** Lists the paid orders on the closed dates of the form, before and after the form is saved. */
export function PaidOrdersNote({ saved }: { saved: AdminShop }) {
  const { control } = useFormContext<ShopFormValues>();
  const [hours, closed, newDate, ranges, newRange] = useWatch({
    control,
    name: ['hours', 'closed', 'newClosedDate', 'closed_ranges', 'newClosedRange'],
  });
  const today = useToday();
  const draft = {
    hours,
    closed: addDate(closed, newDate),
    // Without its first date, a range would contain every date until its last one.
    closed_ranges: newRange.from === '' ? ranges : addRange(ranges, newRange),
  };
  // No order has a pickup after `days_ahead`, unless that setting was higher when the order was placed.
  const savedDates = saved.paid_orders.map(({ date }) => date);
  const candidates = new Set([...listDates(today, saved.days_ahead + 1), ...savedDates]);
  const dates = [...candidates].filter((date) => isClosedOn(draft, date)).sort();
  const sheets = useQueries({
    queries: dates.map((date) => ({ ...daySheet(date), refetchInterval: false as const })),
  });
  const affected = dates
    .map((date, index) => ({ date, orders: sheets[index]?.data?.orders ?? [] }))
    .filter(({ orders }) => orders.length > 0);
  return (
    <div role="alert">
      {affected.length > 0 && (
        <div className="alert">
          <p>{t('shop.paidOrders')}</p>
          {affected.map(({ date, orders }) => (
            <p key={date}>
              <strong>{`${formatDate(date)}, ${t('count.orders', { count: orders.length })}:`}</strong>{' '}
              {orders.map(({ order_id, customer }, index) => (
                <span key={order_id}>
                  {index > 0 && ', '}
                  <Link to={`/manage/orders/${order_id}`} target="_blank">
                    {formatOrderNumber(order_id)}
                  </Link>{' '}
                  {customer.fullname}
                </span>
              ))}
            </p>
          ))}
        </div>
      )}
    </div>
  );
}
