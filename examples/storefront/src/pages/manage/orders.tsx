import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import type { OrderStatus } from '../../api/client';
import { allOrders } from '../../api/orders';
import { OrderList, STATUS } from '../../components/orders';
import { Notice } from '../../components/page';
import { ManagePage } from './manage-page';

/** Orders of all customers. The filter is in the address: `?status=settlement`. */
export default function ManageOrdersPage() {
  const [search, setSearch] = useSearchParams();
  const status = statusOf(search.get('status'));
  const filter = (
    <label className="filter">
      <span>Status</span>
      <select
        value={status ?? ''}
        onChange={({ target }) => setSearch(target.value === '' ? {} : { status: target.value })}
      >
        <option value="">All</option>
        {Object.entries(STATUS).map(([value, { label }]) => (
          <option key={value} value={value}>
            {/* Two states are both "Paid" to a customer. */}
            {value === 'capture' ? `${label} (captured)` : label}
          </option>
        ))}
      </select>
    </label>
  );
  const none = status === null ? 'There are no orders yet.' : `No order is “${STATUS[status].label}”.`;
  return (
    <ManagePage title="Orders" action={filter}>
      <OrderList
        query={useInfiniteQuery(allOrders(status === null ? {} : { status }))}
        empty={<Notice icon="orders" title="No orders here" text={none} />}
      />
    </ManagePage>
  );
}

function statusOf(text: string | null) {
  return text !== null && Object.hasOwn(STATUS, text) ? (text as OrderStatus) : null;
}
