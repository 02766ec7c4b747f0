import type { Shop } from '../api/client';
import { formatDate, formatDay, formatTime, listTimes, toInstant, toLocalDate, useToday } from '../calendar';
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
  /** Time that the customer has chosen, in ISO 8601. It may have become impossible. */
  chosen: string | null;
  message?: string | undefined;
  onChoose: (at: string | null) => void;
}

/**
 * Fields for the day and the time of a pickup. Choosing a day selects the earliest time of that day. If the chosen time becomes
 * impossible, its day stays chosen as long as it has other times.
 */
export function PickupPicker({ times, chosen, message, onChoose }: PickupPickerProps) {
  const today = useToday();
  const days = [...new Set(times.map(({ date }) => date))];
  const day = chosen === null ? undefined : days.find((date) => date === toLocalDate(chosen));
  const time = times.find(({ at }) => at === chosen)?.at ?? '';
  return (
    <fieldset className="pickup">
      <legend>{t('pickup.question')}</legend>
      {/* While no day is chosen, this field shows the message: the field for the time is disabled and cannot take the focus. */}
      <FieldFrame label={t('pickup.day')} message={day ? undefined : message}>
        {(control) => (
          <select
            {...control}
            value={day ?? ''}
            onChange={({ target }) => onChoose(times.find(({ date }) => date === target.value)?.at ?? null)}
          >
            {day === undefined && <option value="">{t('pickup.chooseDay')}</option>}
            {days.map((date) => (
              <option key={date} value={date}>
                {describeDay(date, today)}
              </option>
            ))}
          </select>
        )}
      </FieldFrame>
      <FieldFrame label={t('pickup.time')} message={day ? message : undefined}>
        {(control) => (
          <select
            {...control}
            value={time}
            disabled={day === undefined}
            onChange={({ target }) => onChoose(target.value)}
          >
            {time === '' && <option value="">{t('pickup.chooseTime')}</option>}
            {times
              .filter(({ date }) => date === day)
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
