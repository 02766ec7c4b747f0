import { useId, useRef } from 'react';
import { useController } from 'react-hook-form';
import type { Shop } from '../../api/client';
import { WEEKDAYS } from '../../api/shop';
import { Button } from '../../components/button';
import { t } from '../../i18n';
import { completeTime, type ShopFormValues } from './shop-values';

/** Opening windows of a day, each as `[from, to]`. */
type OpeningWindows = Shop['hours']['mon'];

/** The service rejects more windows for a day. */
const MAX_WINDOWS = 5;
const NEW_WINDOW = ['07:00', '18:00'];

/** Form field `hours`: opening hours of each weekday. */
export function HoursField() {
  const { field, fieldState } = useController<ShopFormValues, 'hours'>({ name: 'hours' });
  const { ref, value: hours, onChange } = field;
  return (
    <fieldset className="field hours" aria-describedby="hours-error">
      <legend className="label" ref={ref} tabIndex={-1}>
        {t('hours.title')}
      </legend>
      <p className="hint">{t('hours.hint')}</p>
      <p className="error" id="hours-error" role="alert">
        {fieldState.error?.message}
      </p>
      {WEEKDAYS.map((day) => (
        <DayHours
          key={day}
          name={t(`day.${day}`)}
          windows={hours[day]}
          onChange={(windows) => onChange({ ...hours, [day]: windows })}
        />
      ))}
    </fieldset>
  );
}

interface DayHoursProps {
  name: string;
  windows: OpeningWindows;
  onChange: (windows: OpeningWindows) => void;
}

function DayHours({ name, windows, onChange }: DayHoursProps) {
  const id = useId();
  const group = useRef<HTMLDivElement>(null);
  const change = (index: number, changed: string[]) => onChange(windows.with(index, changed));
  const add = () => {
    onChange([...windows, NEW_WINDOW]);
    // The focused button disappears when the day has all its windows.
    if (windows.length + 1 === MAX_WINDOWS) group.current?.focus();
  };
  const remove = (index: number) => {
    onChange(windows.toSpliced(index, 1));
    // The focused button disappears together with the window.
    group.current?.focus();
  };
  return (
    <div className="day-hours" role="group" aria-labelledby={id} ref={group} tabIndex={-1}>
      <span id={id}>{name}</span>
      <div>
        {windows.length === 0 && <span className="hint">{t('hours.closed')}</span>}
        {windows.map(([from = '', to = ''], index) => (
          // Windows have no identity besides their position.
          <div key={index} className="inline window">
            <TimeInput
              label={t('hours.opens', { day: name })}
              value={from}
              onChange={(time) => change(index, [time, to])}
            />
            –
            <TimeInput
              label={t('hours.closes', { day: name })}
              value={to}
              onChange={(time) => change(index, [from, time])}
            />
            <Button
              className="link"
              aria-label={t('hours.remove', { from, to, day: name })}
              onClick={() => remove(index)}
            >
              {t('remove')}
            </Button>
          </div>
        ))}
      </div>
      {windows.length < MAX_WINDOWS && (
        <Button className="link" aria-label={t('hours.addOn', { day: name })} onClick={add}>
          {t('hours.add')}
        </Button>
      )}
    </div>
  );
}

interface TimeInputProps {
  label: string;
  value: string;
  onChange: (time: string) => void;
}

/** Text field for a time. The browser's time field cannot express 24:00. */
function TimeInput({ label, value, onChange }: TimeInputProps) {
  const hasInvalidCharacters = !/^[\d.:\s]*$/.test(value);
  const id = useId();
  return (
    <>
      <input
        aria-label={label}
        aria-describedby={id}
        aria-invalid={hasInvalidCharacters || undefined}
        inputMode="numeric"
        maxLength={8}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onBlur={() => {
          const time = completeTime(value);
          // A change removes the message about the hours.
          if (time !== value) onChange(time);
        }}
      />
      <span className="error" id={id} role="status">
        {hasInvalidCharacters && t('hours.unclear')}
      </span>
    </>
  );
}
