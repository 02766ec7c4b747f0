import { useMutation, useQuery } from '@tanstack/react-query';
import { explain } from '../../api/errors';
import { Button } from '../../components/button';
import { Loaded } from '../../components/notice';
import { useUrlParameter } from '../../components/search';
import { daySheet } from '../../api/reports';
import { getPauseEnd, isClosedOn, pauseShop, shopInfo } from '../../api/shop';
import { addDays, formatClock, formatDate, formatDay, isDate, toInstant, useToday } from '../../calendar';
import { BakeList } from './bake-list';
import { DayOrders } from './day-orders';
import { ManagePage } from './manage-page';
import { showToast } from '../../state/toast';
import { t } from '../../i18n';
import type { Shop } from '../../api/client';

const HALF_HOUR_MS = 30 * 60_000;

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
  const [chosen, setChosen] = useUrlParameter('date');
  const date = isDate(chosen) ? chosen : today;
  const query = useQuery(daySheet(date));
  const showDate = (day: string) => setChosen(day === today ? '' : day);
  const title = formatDay(date, today);
  return (
    <ManagePage
      title={title}
      isWide
      action={
        <div className="actions">
          <Button className="button quiet" onClick={() => showDate(addDays(date, -1))}>
            ← {t('day.previous')}
          </Button>
          {date !== today && (
            <Button className="button quiet" onClick={() => showDate(today)}>
              {t('today')}
            </Button>
          )}
          <Button className="button quiet" onClick={() => showDate(addDays(date, 1))}>
            {t('day.next')} →
          </Button>
          {date === today && <PauseButtons shop={shop} />}
          <Button className="button quiet" onClick={() => window.print()}>
            {t('print')}
          </Button>
        </div>
      }
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
            <DayOrders key={date} orders={orders} overdue={overdue} />
          </div>
        )}
      </Loaded>
    </ManagePage>
  );
}

/** Buttons that stop new orders for half an hour or for the rest of the day, or a button that accepts orders again. */
function PauseButtons({ shop }: { shop: Shop }) {
  const today = useToday();
  const pauseEnd = getPauseEnd(shop);
  const { mutate, isPending } = useMutation({
    mutationFn: pauseShop,
    onSuccess: (_, until) =>
      until === null
        ? showToast(t('pause.ended'))
        : showToast(t('pause.started'), { label: t('step.undo'), run: () => mutate(null) }),
    onError: (error) => showToast(explain(error)),
  });
  const pauseUntil = (end: Date) => mutate(end.toISOString());
  const pauseToday = () => pauseUntil(toInstant(addDays(today, 1), '00:00'));
  const attributes = { className: 'button quiet', 'aria-disabled': isPending };
  if (pauseEnd !== null)
    return (
      <Button {...attributes} onClick={() => mutate(null)}>
        {t('pause.end', { time: formatClock(pauseEnd) })}
      </Button>
    );
  return (
    <>
      <Button {...attributes} onClick={() => pauseUntil(new Date(Date.now() + HALF_HOUR_MS))}>
        {t('pause.halfHour')}
      </Button>
      <Button {...attributes} onClick={pauseToday}>
        {t('pause.today')}
      </Button>
    </>
  );
}
