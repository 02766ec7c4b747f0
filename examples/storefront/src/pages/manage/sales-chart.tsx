import { formatShortDate } from '../../calendar';
import { formatPrice } from '../../format';

interface DaySales {
  date: string;
  orders: number;
  revenue: number;
}

/** Height of the drawing; a day is 10 wide. */
const HEIGHT = 120;
const DAY_WIDTH = 10;
const GAP = 2;

/** Bar chart of the revenue per day. Screen readers read the same figures as a table. */
export function SalesChart({ days }: { days: DaySales[] }) {
  const highest = Math.max(1, ...days.map(({ revenue }) => revenue));
  const width = days.length * DAY_WIDTH;
  return (
    <div className="chart">
      <p className="hint" aria-hidden="true">
        {formatPrice(highest)}
      </p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ date, orders, revenue }, index) => {
          const height = (revenue / highest) * HEIGHT;
          return (
            <rect
              key={date}
              x={index * DAY_WIDTH + GAP / 2}
              y={HEIGHT - height}
              width={DAY_WIDTH - GAP}
              height={height}
            >
              <title>{`${formatShortDate(date)}: ${formatPrice(revenue)}, ${orders} orders`}</title>
            </rect>
          );
        })}
      </svg>
      <p className="chart-ends hint" aria-hidden="true">
        <span>{formatShortDate(days[0]?.date ?? '')}</span>
        <span>{formatShortDate(days.at(-1)?.date ?? '')}</span>
      </p>
      <details>
        <summary>Figures per day</summary>
        <table>
          <caption className="hidden">Revenue per day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Orders</th>
              <th scope="col">Revenue</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, orders, revenue }) => (
              <tr key={date}>
                <th scope="row">{formatShortDate(date)}</th>
                <td>{orders}</td>
                <td>{formatPrice(revenue)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}
