import { useRef } from 'react';
import { useController } from 'react-hook-form';
import { formatDate } from '../../calendar';
import { Button } from '../../components/button';
import { FieldFrame } from '../../components/field';
import { t } from '../../i18n';
import { addDate, type ShopFormValues } from './shop-values';

/** Form fields `closed`, the dates on which the shop is closed, and `newClosedDate`, the date to add. */
export function ClosedDates() {
  const { field, fieldState } = useController<ShopFormValues, 'closed'>({ name: 'closed' });
  const dates = field.value;
  const draft = useController<ShopFormValues, 'newClosedDate'>({ name: 'newClosedDate' }).field;
  const input = useRef<HTMLInputElement>(null);
  const add = () => {
    field.onChange(addDate(dates, draft.value));
    draft.onChange('');
  };
  const remove = (date: string) => {
    field.onChange(dates.filter((other) => other !== date));
    // The focused button disappears together with the date.
    input.current?.focus();
  };
  return (
    <div className="closed-dates">
      <FieldFrame label={t('closed.label')} hint={t('closed.hint')} message={fieldState.error?.message}>
        {(control) => (
          <div className="inline add-date">
            <input {...control} ref={input} type="date" value={draft.value} onChange={draft.onChange} />
            <Button className="button quiet small" onClick={add}>
              {t('closed.add')}
            </Button>
          </div>
        )}
      </FieldFrame>
      <ul aria-label={t('closed.list')}>
        {dates.map((date) => (
          <li key={date}>
            {formatDate(date)} {date.slice(0, 4)}
            <Button
              className="link"
              aria-label={t('removeNamed', { name: date })}
              onClick={() => remove(date)}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
