import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { explain } from '../../api/errors';
import { downloadSales, type Range, salesReport } from '../../api/reports';
import { useToday } from '../../api/shop';
import { addDays } from '../../calendar';
import { Button } from '../../components/button';
import { FieldFrame } from '../../components/field';
import { Alert, Loaded } from '../../components/page';
import { count, formatPrice } from '../../format';
import { ManagePage } from './manage-page';
import { SalesChart } from './sales-chart';

const MISSING = { icon: 'orders', title: 'There are no figures', text: 'Choose another period.' };

/** Sales of a period: total, revenue per day and products by revenue. The address has the period. */
export default function SalesPage() {
  const today = useToday();
  const [search, setSearch] = useSearchParams();
  const range = {
    from: search.get('from') ?? addDays(today, -6),
    to: search.get('to') ?? today,
  };
  const download = useMutation({ mutationFn: () => downloadSales(range) });
  return (
    <ManagePage
      title="Sales"
      action={
        <Button className="button quiet" aria-disabled={download.isPending} onClick={() => download.mutate()}>
          Download CSV
        </Button>
      }
      search={
        <RangePicker key={`${range.from} ${range.to}`} range={range} today={today} onChoose={setSearch} />
      }
    >
      <Alert>{download.error && explain(download.error)}</Alert>
      <Loaded query={useQuery(salesReport(range))} missing={MISSING}>
        {({ total, days, products }) => (
          <>
            <section className="panel" aria-labelledby="revenue">
              <h2 id="revenue">Revenue per day</h2>
              <p role="status">
                <strong className="figure">{formatPrice(total.revenue)}</strong> with{' '}
                {count(total.orders, 'order')}
              </p>
              <SalesChart days={days} />
            </section>
            <section className="panel" aria-labelledby="products">
              <h2 id="products">Products by revenue</h2>
              {products.length === 0 ? (
                <p className="hint">Nothing was sold.</p>
              ) : (
                <ProductTable products={products} />
              )}
            </section>
          </>
        )}
      </Loaded>
    </ManagePage>
  );
}

interface RangePickerProps {
  range: Range;
  today: string;
  onChoose: (range: { from: string; to: string }) => void;
}

/** Selects the last 7 or 30 days, or any period. */
function RangePicker({ range, today, onChoose }: RangePickerProps) {
  const [{ from, to }, setDraft] = useState(range);
  const isLast = (days: number) => range.to === today && range.from === addDays(today, 1 - days);
  return (
    <form className="range" action={() => onChoose({ from, to })}>
      {[7, 30].map((days) => (
        <Button
          key={days}
          className="button quiet"
          aria-pressed={isLast(days)}
          onClick={() => onChoose({ from: addDays(today, 1 - days), to: today })}
        >
          Last {days} days
        </Button>
      ))}
      <FieldFrame label="From">
        {({ id }) => (
          <input
            id={id}
            type="date"
            required
            max={to}
            value={from}
            onChange={({ target }) => setDraft({ from: target.value, to })}
          />
        )}
      </FieldFrame>
      <FieldFrame label="To">
        {({ id }) => (
          <input
            id={id}
            type="date"
            required
            min={from}
            value={to}
            onChange={({ target }) => setDraft({ from, to: target.value })}
          />
        )}
      </FieldFrame>
      <button className="button quiet">Show</button>
    </form>
  );
}

interface SoldProduct {
  product_id: number;
  name: string;
  quantity: number;
  revenue: number;
}

function ProductTable({ products }: { products: SoldProduct[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col">Pieces</th>
          <th scope="col">Revenue</th>
        </tr>
      </thead>
      <tbody>
        {products.map(({ product_id, name, quantity, revenue }) => (
          <tr key={`${product_id} ${name}`}>
            <th scope="row">{name}</th>
            <td>{quantity}</td>
            <td>{formatPrice(revenue)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
