import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { explain } from '../../api/errors';
import { downloadSales, type Range, salesReport } from '../../api/reports';
import { useToday } from '../../api/shop';
import { addDays } from '../../calendar';
import { Button } from '../../components/button';
import { TextField } from '../../components/field';
import { Alert, Loaded } from '../../components/page';
import { formatCount, formatPrice } from '../../format';
import { FiguresTable } from './figures-table';
import { ManagePage } from './manage-page';
import { SalesChart } from './sales-chart';

/** Total revenue, revenue per day and products by revenue. The URL may name the period: `?from=2026-11-18&to=2026-11-24`. */
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
      belowTitle={
        <RangePicker key={`${range.from} ${range.to}`} range={range} today={today} onChoose={setSearch} />
      }
    >
      <Alert>{download.error && explain(download.error)}</Alert>
      <Loaded query={useQuery(salesReport(range))}>
        {({ total, days, products }) => (
          <>
            <section className="panel" aria-labelledby="revenue">
              <h2 id="revenue">Revenue per day</h2>
              <p role="status">
                <strong className="figure">{formatPrice(total.revenue)}</strong> with{' '}
                {formatCount(total.orders, 'order')}
              </p>
              <SalesChart days={days} />
            </section>
            <section className="panel" aria-labelledby="products">
              <h2 id="products">Products by revenue</h2>
              {products.length === 0 ? (
                <p className="hint">Nothing was sold.</p>
              ) : (
                <FiguresTable
                  columns={['Product', 'Pieces', 'Revenue']}
                  rows={products.map(({ product_id, name, quantity, revenue }) => ({
                    key: `${product_id} ${name}`,
                    name,
                    figures: [quantity, formatPrice(revenue)],
                  }))}
                />
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
  onChoose: (range: Range) => void;
}

/** Form that chooses the last 7 or 30 days, or any other period. */
function RangePicker({ range, today, onChoose }: RangePickerProps) {
  const [{ from, to }, setDraft] = useState(range);
  const isLastDays = (days: number) => range.to === today && range.from === addDays(today, 1 - days);
  return (
    <form className="range" action={() => onChoose({ from, to })}>
      {[7, 30].map((days) => (
        <Button
          key={days}
          className="button quiet"
          aria-pressed={isLastDays(days)}
          onClick={() => onChoose({ from: addDays(today, 1 - days), to: today })}
        >
          Last {days} days
        </Button>
      ))}
      <TextField
        label="From"
        type="date"
        required
        max={to}
        value={from}
        onChange={({ target }) => setDraft({ from: target.value, to })}
      />
      <TextField
        label="To"
        type="date"
        required
        min={from}
        value={to}
        onChange={({ target }) => setDraft({ from, to: target.value })}
      />
      <button className="button quiet">Show</button>
    </form>
  );
}
