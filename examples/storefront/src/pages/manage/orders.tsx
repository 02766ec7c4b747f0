import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { AdminOrder } from '../../api/client';
import { allOrders, type OrderFilter } from '../../api/orders';
import { FULFILMENT_TEXTS, STATUS_TEXTS } from '../../components/order-labels';
import { OrderList } from '../../components/order-list';
import { Notice } from '../../components/page';
import { SearchForm, useUrlParameter } from '../../components/search';
import { formatCount } from '../../format';
import { toast } from '../../state/toast';
import { Filter, useFilters } from './filter';
import { ManagePage } from './manage-page';

const FILTERS = ['q', 'status', 'fulfilment', 'refund', 'pickup'];
// Distinguishes two statuses that can mean "Paid". A captured payment may also be under review or denied.
const STATUSES = { ...STATUS_TEXTS, capture: { label: 'Card payment captured' } };
const REFUND = { due: { label: 'Refund due' } };

/** Orders of all customers. Search and filters are in the URL: `?q=ayu&status=settlement&fulfilment=ready`. */
export default function ManageOrdersPage() {
  const filters = useFilters(FILTERS);
  const search = (
    <>
      <SearchForm label="Customer, e-mail or order number" />
      <div className="filters">
        <Filter label="Payment" name="status" options={STATUSES} />
        <Filter label="Fulfilment" name="fulfilment" options={FULFILMENT_TEXTS} />
        <Filter label="Refund" name="refund" options={REFUND} />
        <PickupFilter />
      </div>
    </>
  );
  const query = useInfiniteQuery(allOrders(filters as OrderFilter));
  return (
    <ManagePage title="Orders" belowTitle={search}>
      <Arrivals key={JSON.stringify(filters)} orders={query.data} />
      <OrderList
        path="/manage/orders"
        query={query}
        empty={<Notice icon="orders" title="No orders here" text="There are no orders yet." />}
        notFound={Object.keys(filters).length > 0 && 'No orders match your search.'}
      />
    </ManagePage>
  );
}

/** Announces orders that the periodic reload of the list has found. */
function Arrivals({ orders }: { orders: AdminOrder[] | undefined }) {
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (orders === undefined) return;
    const ids = orders.map(({ order_id }) => order_id);
    const before = known.current;
    known.current = new Set(ids);
    if (before === undefined) return;
    // Unknown orders below the last known one are not new: the list has loaded another page.
    const end = before.size === 0 ? ids.length : ids.findLastIndex((id) => before.has(id));
    const arrived = ids.slice(0, Math.max(end, 0)).filter((id) => !before.has(id));
    if (arrived.length > 0) toast(`${formatCount(arrived.length, 'new order')}.`);
  }, [orders]);
  return null;
}

function PickupFilter() {
  const [date, choose] = useUrlParameter('pickup');
  return (
    <label className="filter">
      <span>Pickup</span>
      <input type="date" value={date} onChange={({ target }) => choose(target.value)} />
    </label>
  );
}
