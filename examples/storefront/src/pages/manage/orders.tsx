import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { allOrders, type OrderFilter } from '../../api/orders';
import { Notice } from '../../components/notice';
import { OrderList } from '../../components/order-list';
import { FULFILMENTS, STATUSES } from '../../components/order-texts';
import { SearchForm } from '../../components/search';
import { t } from '../../i18n';
import { useUrlParameter, useUrlParameters } from '../../routing/url-parameters';
import { Filter } from './filter';
import { ManagePage } from './manage-page';

const FILTERS = ['q', 'status', 'fulfilment', 'refund', 'pickup'];

/** Orders of all customers. Search and filters are in the URL: `?q=ayu&status=settlement&fulfilment=ready`. */
export default function ManageOrdersPage() {
  const filters = useUrlParameters(FILTERS);
  const statuses = Object.fromEntries(STATUSES.map((status) => [status, t(`status.${status}`)]));
  const fulfilments = Object.fromEntries(FULFILMENTS.map((step) => [step, t(`fulfilment.${step}`)]));
  const search = (
    <>
      <SearchForm label={t('manage.findOrder')} />
      <div className="actions">
        <Filter
          label={t('manage.payment')}
          name="status"
          // Distinguishes two statuses that can mean "Paid". A captured payment may also be under review or denied.
          options={{ ...statuses, capture: t('manage.captured') }}
        />
        <Filter label={t('manage.fulfilment')} name="fulfilment" options={fulfilments} />
        <Filter label={t('manage.refund')} name="refund" options={{ due: t('orders.refundDue') }} />
        <PickupFilter />
      </div>
    </>
  );
  const query = useInfiniteQuery(allOrders(filters as OrderFilter));
  return (
    <ManagePage title={t('nav.orders')} belowTitle={search}>
      <OrderList
        path="/manage/orders"
        query={query}
        empty={<Notice icon="orders" title={t('manage.noOrders')} text={t('manage.noOrdersText')} />}
        notFoundText={Object.keys(filters).length > 0 ? t('manage.noMatch') : undefined}
      />
    </ManagePage>
  );
}

function PickupFilter() {
  const [date, setDate] = useUrlParameter('pickup');
  // Date while its year is being typed, such as `0020-11-24`. If null, the field shows `date`.
  const [draft, setDraft] = useState<string | null>(null);
  const change = (value: string) => {
    const isComplete = value === '' || /^20\d\d-/.test(value);
    setDraft(isComplete ? null : value);
    if (isComplete) setDate(value, { replace: true });
  };
  return (
    <label className="filter">
      <span>{t('order.pickup')}</span>
      <input
        type="date"
        value={draft ?? date}
        onChange={({ target }) => change(target.value)}
        onBlur={() => setDraft(null)}
      />
    </label>
  );
}
