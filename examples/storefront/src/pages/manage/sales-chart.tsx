import type { Schemas } from '../../api/client';
import { formatShortDate } from '../../calendar';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import { FiguresTable } from './figures-table';

/** Sizes in units of the `viewBox`. */
const HEIGHT = 120;
const DAY_WIDTH = 10;
const GAP = 2;

/** Bar chart of the revenue per day. Screen readers ignore the chart, so a table below it contains the same figures. */
export function SalesChart({ days }: { days: Schemas['SalesDayView'][] }) {
  const highest = Math.max(0, ...days.map(({ revenue }) => revenue));
  const [first, last] = [days.at(0), days.at(-1)];
  const width = days.length * DAY_WIDTH;
  return (
    <div className="chart">
      <p className="hint" aria-hidden="true">
        {formatPrice(highest)}
      </p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ date, orders, revenue }, index) => {
          const height = highest === 0 ? 0 : (revenue / highest) * HEIGHT;
          return (
            <rect
              key={date}
              x={index * DAY_WIDTH + GAP / 2}
              y={HEIGHT - height}
              width={DAY_WIDTH - GAP}
              height={height}
            >
              <title>{`${formatShortDate(date)}: ${formatPrice(revenue)}, ${t('count.orders', { count: orders })}`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="chart-ends hint" aria-hidden="true">
        <span>{first && formatShortDate(first.date)}</span>
        <span>{last && formatShortDate(last.date)}</span>
      </p>
      <details>
        <summary>{t('sales.figures')}</summary>
        <FiguresTable
          caption={t('sales.perDay')}
          columns={[t('pickup.day'), t('nav.orders'), t('sales.revenue')]}
          rows={days.map(({ date, orders, revenue }) => ({
            name: formatShortDate(date),
            figures: [orders, formatPrice(revenue)],
          }))}
        />
      </details>
    </div>
  );
}
