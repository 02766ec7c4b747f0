import { useSearchParams } from 'react-router';
import type { OrderStatus } from '../../api/client';
import { useAllOrders } from '../../api/orders';
import { OrderList, STATUS } from '../../components/orders';
import { Notice } from '../../components/page';
import { ManagePage } from './manage-page';

/** Orders of all customers. The filter is in the address: `?status=settlement`. */
export default function ManageOrdersPage() {
  const [search, setSearch] = useSearchParams();
  // The service refuses a status that does not exist.
  const status = search.get('status') as OrderStatus | null;
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
            {value === 'capture' ? 'Paid (captured)' : label}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <ManagePage title="Orders" action={filter}>
      <OrderList
        query={useAllOrders(status === null ? {} : { status })}
        empty={<Notice icon="orders" title="No orders here" text="None has this status." />}
      />
    </ManagePage>
  );
}
