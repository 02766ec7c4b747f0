import { useQuery } from '@tanstack/react-query';
import type { Shop } from '../../api/client';
import { daySheet } from '../../api/reports';
import { isClosedOn, shopInfo } from '../../api/shop';
import { addDays, formatDate, formatDay, isDate, useToday } from '../../calendar';
import { Button } from '../../components/button';
import { Loaded } from '../../components/loaded';
import { focusHeading } from '../../components/page-heading';
import { t } from '../../i18n';
import { useUrlParameter } from '../../routing/url-parameters';
import { BakeList } from './bake-list';
import { DayOrders } from './day-orders';
import { ManagePage } from './manage-page';
import { PauseButtons } from './pause-buttons';

/** Orders of a day by pickup time, and the products to bake for them. `?date=2026-11-24` selects another day than today. */
export default function TodayPage() {
  const shop = useQuery(shopInfo);
  return (
    <Loaded query={shop} title={t('today')}>
      {(data) => <Day shop={data} />}
    </Loaded>
  );
}

function Day({ shop }: { shop: Shop }) {
  const today = useToday();
  const [chosen] = useUrlParameter('date');
  const date = isDate(chosen) ? chosen : today;
  const title = formatDay(date, today);
  const query = useQuery(daySheet(date));
  return (
    <ManagePage
      title={title}
      isWide
      besideTitle={<DayButtons date={date} shop={shop} />}
      belowTitle={
        <>
          {title !== formatDate(date) && <p>{formatDate(date)}</p>}
          {isClosedOn(shop, date) && <p className="alert">{t('day.closed')}</p>}
        </>
      }
    >
      <Loaded query={query}>
        {({ orders, products, overdue }) => (
          <div className="day">
            <BakeList products={products} />
            {/* A new key drops the errors of the other day's orders. */}
            <DayOrders key={date} orders={orders} overdue={overdue} />
          </div>
        )}
      </Loaded>
    </ManagePage>
  );
}

/** Buttons that show another day, pause the shop today, and print the day. */
function DayButtons({ date, shop }: { date: string; shop: Shop }) {
  const today = useToday();
  const [, setChosen] = useUrlParameter('date');
  const showDate = (day: string) => setChosen(day === today ? '' : day);
  const showToday = () => {
    showDate(today);
    // The pressed button disappears.
    focusHeading();
  };
  return (
    <div className="actions">
      <button type="button" className="button quiet" onClick={() => showDate(addDays(date, -1))}>
        ← {t('day.previous')}
      </button>
      {date !== today && (
        <Button className="button quiet" onClick={showToday}>
          {t('today')}
        </Button>
      )}
      <button type="button" className="button quiet" onClick={() => showDate(addDays(date, 1))}>
        {t('day.next')} →
      </button>
      {date === today && <PauseButtons shop={shop} />}
      <Button className="button quiet" onClick={() => window.print()}>
        {t('print')}
      </Button>
    </div>
  );
}
