import { useMutation } from '@tanstack/react-query';
import type { Shop } from '../../api/client';
import { explain } from '../../api/errors';
import { getPauseEnd, pauseShop } from '../../api/shop';
import { addDays, formatDayAndTime, toInstant, useToday } from '../../calendar';
import { Button } from '../../components/button';
import { focusHeading } from '../../components/page-heading';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';

const HALF_HOUR_MS = 30 * 60_000;

/** Buttons that stop new orders for half an hour or for the rest of the day, or a button that accepts orders again. */
export function PauseButtons({ shop }: { shop: Shop }) {
  const today = useToday();
  const pauseEnd = getPauseEnd(shop);
  const { mutate, isPending } = useMutation({
    mutationFn: pauseShop,
    onSuccess: (_, until) => {
      // The pressed button disappears.
      focusHeading();
      if (until === null) showToast(t('pause.ended'));
      else showToast(t('pause.started'), { label: t('undo'), run: () => mutate(null) });
    },
    onError: (error) => showToast(explain(error)),
  });
  const pauseUntil = (end: Date) => mutate(end.toISOString());
  const attributes = { className: 'button quiet', isBusy: isPending };
  if (pauseEnd !== null)
    return (
      <Button {...attributes} onClick={() => mutate(null)}>
        {t('pause.end', { time: formatDayAndTime(pauseEnd, today) })}
      </Button>
    );
  return (
    <>
      <Button {...attributes} onClick={() => pauseUntil(new Date(Date.now() + HALF_HOUR_MS))}>
        {t('pause.halfHour')}
      </Button>
      <Button {...attributes} onClick={() => pauseUntil(toInstant(addDays(today, 1), '00:00'))}>
        {t('pause.today')}
      </Button>
    </>
  );
}
