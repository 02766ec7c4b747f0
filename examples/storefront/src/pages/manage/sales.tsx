import { useMutation, useQuery } from '@tanstack/react-query';
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
  const choose = (fields: FormData) =>
    onChoose({ from: fields.get('from') as string, to: fields.get('to') as string });
  return (
    <form className="inline range" action={choose}>
      {[7, 30].map((days) => {
        const lastDays = getLastDays(days, today);
        return (
          <Button
            key={days}
            className="button quiet"
            aria-pressed={range.from === lastDays.from && range.to === lastDays.to}
            onClick={() => onChoose(lastDays)}
          >
            {t('sales.lastDays', { days })}
          </Button>
        );
      })}
      {/* The keys show the dates of a range that was chosen by a button or a navigation. */}
      <TextField
        key={`from ${range.from}`}
        label={t('sales.from')}
        name="from"
        type="date"
        required
        defaultValue={range.from}
      />
      <TextField
        key={`to ${range.to}`}
        label={t('sales.to')}
        name="to"
        type="date"
        required
        defaultValue={range.to}
      />
      <button className="button quiet">{t('sales.show')}</button>
    </form>
  );
}
