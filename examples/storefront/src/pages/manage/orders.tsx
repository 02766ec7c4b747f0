import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { allOrders, type OrderFilter } from '../../api/orders';
import { FULFILMENT, OrderList, STATUS } from '../../components/orders';
import { Notice } from '../../components/page';
import { SearchForm, useParameter } from '../../components/search';
import { ManagePage } from './manage-page';

/** Orders of all customers. What is shown is in the address: `?q=ayu&status=settlement&fulfilment=ready`. */
export default function ManageOrdersPage() {
  const [search] = useSearchParams();
  const known = [...search].filter(([name]) => ['q', 'status', 'fulfilment'].includes(name));
  // The service refuses values that do not exist.
  const filter = Object.fromEntries(known) as OrderFilter;
  const filters = (
    <>
      <SearchForm label="Customer, e-mail or order number" />
      <div className="filters">
        <Filter label="Payment" name="status" options={STATUS} />
        <Filter label="Fulfilment" name="fulfilment" options={FULFILMENT} />
      </div>
    </>
  );
  return (
    <ManagePage title="Orders" search={filters}>
      <OrderList
        path="/manage/orders"
        query={useInfiniteQuery(allOrders(filter))}
        empty={<Notice icon="orders" title="No orders here" text="There are no orders yet." />}
        notFound={known.length > 0 && 'No order is like that.'}
      />
    </ManagePage>
  );
}

interface FilterProps {
  label: string;
  /** Of the parameter in the address. */
  name: string;
  /** By value. */
  options: Record<string, { label: string }>;
}

function Filter({ label, name, options }: FilterProps) {
  const [chosen, choose] = useParameter(name);
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={chosen} onChange={({ target }) => choose(target.value)}>
        <option value="">All</option>
        {Object.entries(options).map(([value, option]) => (
          <option key={value} value={value}>
            {/* Two states are both "Paid" to a customer. */}
            {value === 'capture' ? `${option.label} (captured)` : option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
