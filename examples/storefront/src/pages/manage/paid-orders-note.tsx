import { useQueries } from '@tanstack/react-query';
import { useFormContext, useWatch } from 'react-hook-form';
import { Link } from 'react-router';
import type { AdminOrder } from '../../api/client';
import { daySheet } from '../../api/reports';
import { isClosedOn } from '../../api/shop';
import { formatDate, listDates, useToday } from '../../calendar';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { addDate, type ShopFormValues } from './shop-values';

/** Largest value of `days_ahead`. An order may have been placed while that setting was larger. */
const MAX_DAYS_AHEAD = 90;

/** Lists the paid orders that are to be collected on closed dates of the form, before and after the form is saved. */
export function PaidOrdersNote() {
  const { control } = useFormContext<ShopFormValues>();
  const [hours, closed, newDate, ranges] = useWatch({
    control,
    name: ['hours', 'closed', 'newClosedDate', 'closed_ranges'],
  });
  const today = useToday();
  const draft = {
    hours,
    closed: addDate(closed, newDate),
    // Without its first date, a range would contain every date until its last one.
    closed_ranges: ranges.filter(({ from }) => from !== ''),
  };
  const dates = listDates(today, MAX_DAYS_AHEAD + 1).filter((date) => isClosedOn(draft, date));
  const sheets = useQueries({
    // Not again every few seconds: the form may have many closed dates.
    queries: dates.map((date) => ({ ...daySheet(date), refetchInterval: false as const })),
  });
  const affected = dates
    .map((date, index) => ({ date, orders: (sheets[index]?.data?.orders ?? []).filter(isToBeCollected) }))
    .filter(({ orders }) => orders.length > 0);
  return (
    // Rendered even if it is empty: screen readers announce only changes of an existing region.
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

function isToBeCollected({ pickup_at, fulfilment }: AdminOrder) {
  return pickup_at !== null && fulfilment !== 'collected';
}
