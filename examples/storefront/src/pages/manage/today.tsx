import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/button';
import { Loaded } from '../../components/page';
import { useUrlParameter } from '../../components/search';
import { daySheet } from '../../api/reports';
import { shopInfo, useToday } from '../../api/shop';
import { addDays, formatDate, formatDay } from '../../calendar';
import { BakeList } from './bake-list';
import { DayOrders } from './day-orders';
import { ManagePage } from './manage-page';

/** Orders of a day by pickup time, and the products to bake for them. `?date=2026-11-24` selects another day than today. */
export default function TodayPage() {
  const shop = useQuery(shopInfo);
  return (
    <Loaded query={shop} title="Today">
      {({ time_zone }) => <Day timeZone={time_zone} />}
    </Loaded>
  );
}

function Day({ timeZone }: { timeZone: string }) {
  const today = useToday();
  const [chosen, choose] = useUrlParameter('date');
  const date = chosen || today;
  const query = useQuery(daySheet(date));
  const pick = (day: string) => choose(day === today ? '' : day);
  const title = formatDay(date, today);
  return (
    <ManagePage
      title={title}
      isWide
      action={
        <div className="day-nav">
          <Button className="button quiet" onClick={() => pick(addDays(date, -1))}>
            ← Previous day
          </Button>
          {date !== today && (
            <Button className="button quiet" onClick={() => pick(today)}>
              Today
            </Button>
          )}
          <Button className="button quiet" onClick={() => pick(addDays(date, 1))}>
            Next day →
          </Button>
          <Button className="button quiet" onClick={() => window.print()}>
            Print
          </Button>
        </div>
      }
      belowTitle={title !== formatDate(date) && <p>{formatDate(date)}</p>}
    >
      <Loaded query={query}>
        {({ orders, products }) => (
          <div className="day">
            <DayOrders key={date} orders={orders} timeZone={timeZone} />
            <BakeList products={products} />
          </div>
        )}
      </Loaded>
    </ManagePage>
  );
}
