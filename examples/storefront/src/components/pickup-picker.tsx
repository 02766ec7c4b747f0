import type { Shop } from '../api/client';
import { formatDate, formatDay, formatTime, listTimes, toInstant, useToday } from '../calendar';
import { t } from '../i18n';
import { FieldFrame } from './field';

/** Interval between pickup times, unless the slots of the shop are shorter. */
const PICKUP_INTERVAL_MINUTES = 30;

interface PickupTime {
  /** Date in the time zone of the shop: `2026-11-24` */
  date: string;
  /** Pickup time in ISO 8601, UTC. */
  at: string;
}

/** Lists all pickup times of the shop, earliest first. */
export function listPickupTimes({ pickup, slot_minutes }: Shop): PickupTime[] {
  // With an interval that is longer than a slot, customers could not choose some slots.
  const interval = Math.min(slot_minutes ?? PICKUP_INTERVAL_MINUTES, PICKUP_INTERVAL_MINUTES);
  return pickup.flatMap(({ date, from, to }, index) => {
    const times = listTimes({ from, to }, interval);
    // A short window may contain no multiple of the interval, so offer its start. Not in the first window, which may start at the
    // earliest possible pickup time: that time passes within a minute.
    const offered = times.length === 0 && index > 0 ? [from] : times;
    return offered.map((time) => ({ date, at: toInstant(date, time).toISOString() }));
  });
}

interface PickupPickerProps {
  times: PickupTime[];
  /** Undefined until the customer chooses a time. */
  chosen: PickupTime | undefined;
  message?: string | undefined;
  onChoose: (at: string | null) => void;
}

/** Fields for the day and the time of a pickup. Choosing a day selects the earliest time of that day. */
export function PickupPicker({ times, chosen, message, onChoose }: PickupPickerProps) {
  const today = useToday();
  const days = [...new Set(times.map(({ date }) => date))];
  return (
    <fieldset className="pickup">
      <legend>{t('pickup.question')}</legend>
      {/* While no day is chosen, this field shows the message: the field for the time is disabled and cannot take the focus. */}
      <FieldFrame label={t('pickup.day')} message={chosen ? undefined : message}>
        {(control) => (
          <select
            {...control}
            value={chosen?.date ?? ''}
            onChange={({ target }) => onChoose(times.find(({ date }) => date === target.value)?.at ?? null)}
          >
            {chosen === undefined && <option value="">{t('pickup.choose')}</option>}
            {days.map((date) => (
              <option key={date} value={date}>
                {describeDay(date, today)}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      <FieldFrame label={t('pickup.time')} message={chosen ? message : undefined}>
        {(control) => (
          <select
            {...control}
            value={chosen?.at ?? ''}
            disabled={chosen === undefined}
            onChange={({ target }) => onChoose(target.value)}
          >
            {times
              .filter(({ date }) => date === chosen?.date)
              .map(({ at }) => (
                <option key={at} value={at}>
                  {formatTime(at)}
                </option>
              ))}
          </select>
        )}
      </FieldFrame>
    </fieldset>
  );
}

/** Describes a day: `Today, Tuesday 24 November`. The date is never left out, because the device's clock may be wrong. */
function describeDay(date: string, today: string) {
  return [...new Set([formatDay(date, today), formatDate(date)])].join(', ');
}
