import { useRef } from 'react';
import { useController } from 'react-hook-form';
import { formatDateWithYear } from '../../calendar';
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
  const remove = (index: number) => {
    field.onChange(dates.toSpliced(index, 1));
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
        {dates.map((date, index) => (
          <li key={date}>
            {formatDateWithYear(date)}
            <Button
              className="link"
              aria-label={t('removeNamed', { name: date })}
              onClick={() => remove(index)}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
