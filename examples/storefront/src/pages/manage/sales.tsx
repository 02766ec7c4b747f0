import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { explain } from '../../api/errors';
import { type DateRange, downloadSales, salesReport } from '../../api/reports';
import { addDays, useToday } from '../../calendar';
import { Button } from '../../components/button';
import { TextField } from '../../components/field';
import { Loaded } from '../../components/loaded';
import { Alert } from '../../components/notice';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import { FiguresTable } from './figures-table';
import { ManagePage } from './manage-page';
import { SalesChart } from './sales-chart';

/**
 * Total revenue, revenue per day and products by revenue. The URL may name a date range:
 * `?from=2026-11-18&to=2026-11-24`.
 */
export default function SalesPage() {
  const today = useToday();
  const [parameters, setParameters] = useSearchParams();
  const lastWeek = getLastDays(7, today);
  const range = {
    from: parameters.get('from') ?? lastWeek.from,
    to: parameters.get('to') ?? lastWeek.to,
  };
  const download = useMutation({ mutationFn: (format?: 'excel') => downloadSales(range, format) });
  const downloadButton = { className: 'button quiet', isBusy: download.isPending };
  return (
    <ManagePage
      title={t('manage.sales')}
      besideTitle={
        <div className="actions">
          <Button {...downloadButton} onClick={() => download.mutate(undefined)}>
            {t('sales.download')}
          </Button>
          <Button {...downloadButton} onClick={() => download.mutate('excel')}>
            {t('sales.excel')}
          </Button>
        </div>
      }
      belowTitle={<RangePicker range={range} today={today} onChoose={setParameters} />}
    >
      <Alert>{download.error && explain(download.error)}</Alert>
      <Loaded query={useQuery(salesReport(range))}>
        {({ total, days, products }) => (
          <>
            <section className="panel" aria-labelledby="revenue">
              <h2 id="revenue">{t('sales.perDay')}</h2>
              <p>
                <strong className="figure">{formatPrice(total.revenue)}</strong>{' '}
                {t('sales.with', { orders: t('count.orders', { count: total.orders }) })}
              </p>
              <SalesChart days={days} />
            </section>
            <section className="panel" aria-labelledby="products">
              <h2 id="products">{t('sales.byProduct')}</h2>
              {products.length === 0 ? (
                <p className="hint">{t('sales.nothing')}</p>
              ) : (
                <FiguresTable
                  columns={[t('table.product'), t('sales.pieces'), t('sales.revenue')]}
                  rows={products.map(({ name, quantity, revenue }) => ({
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

function getLastDays(days: number, today: string): DateRange {
  return { from: addDays(today, 1 - days), to: today };
}

interface RangePickerProps {
  range: DateRange;
  today: string;
  onChoose: (range: DateRange) => void;
}

/** Form that chooses the last 7 or 30 days, or any other date range. */
function RangePicker({ range, today, onChoose }: RangePickerProps) {
  const key = `${range.from} ${range.to}`;
  // Dates while a person types, and the key of the range that they replace. After a navigation, the fields show `range`.
  const [draft, setDraft] = useState<(DateRange & { key: string }) | null>(null);
  const { from, to } = draft?.key === key ? draft : range;
  const choose = (chosen: DateRange) => {
    setDraft(null);
    onChoose(chosen);
  };
  return (
    <form className="inline range" action={() => choose({ from, to })}>
      {[7, 30].map((days) => {
        const lastDays = getLastDays(days, today);
        return (
          <Button
            key={days}
            className="button quiet"
            aria-pressed={range.from === lastDays.from && range.to === lastDays.to}
            onClick={() => choose(lastDays)}
          >
            {t('sales.lastDays', { days })}
          </Button>
        );
      })}
      <TextField
        label={t('sales.from')}
        type="date"
        required
        max={to}
        value={from}
        onChange={({ target }) => setDraft({ from: target.value, to, key })}
      />
      <TextField
        label={t('sales.to')}
        type="date"
        required
        min={from}
        value={to}
        onChange={({ target }) => setDraft({ from, to: target.value, key })}
      />
      <button className="button quiet">{t('sales.show')}</button>
    </form>
  );
}
