import { useRef, useState } from 'react';
import { useController } from 'react-hook-form';
import { formatDate } from '../../calendar';
import { Button } from '../../components/button';
import { FieldFrame } from '../../components/field';

/** Form field `closed`: dates on which the shop is closed. */
export function ClosedDates() {
  const { field, fieldState } = useController({ name: 'closed' });
  const dates = field.value as string[];
  const [draft, setDraft] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const add = () => {
    if (draft !== '') field.onChange([...new Set([...dates, draft])].sort());
    setDraft('');
  };
  const remove = (date: string) => {
    field.onChange(dates.filter((other) => other !== date));
    // The focused button disappears together with the date.
    input.current?.focus();
  };
  return (
    <div className="closed-dates">
      <FieldFrame
        label="Closed on"
        hint="Holidays and other dates without pickup."
        message={fieldState.error?.message}
      >
        {(control) => (
          <div className="add-date">
            <input
              {...control}
              ref={input}
              type="date"
              value={draft}
              onChange={({ target }) => setDraft(target.value)}
            />
            <Button className="button quiet small" onClick={add}>
              Add date
            </Button>
          </div>
        )}
      </FieldFrame>
      <ul aria-label="Closed dates">
        {dates.map((date) => (
          <li key={date}>
            {formatDate(date)} {date.slice(0, 4)}
            <Button className="link" aria-label={`Remove ${date}`} onClick={() => remove(date)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
