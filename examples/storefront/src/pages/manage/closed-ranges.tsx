import { useRef } from 'react';
import { useController } from 'react-hook-form';
import { Button } from '../../components/button';
import { TextField } from '../../components/field';
import { t } from '../../i18n';
import type { ClosedRange, ShopFormValues } from './shop-values';

const NEW_RANGE: ClosedRange = { from: '', to: '', reason: null };

/** Form field `closed_ranges`: ranges of dates on which the shop is closed, whose reasons customers see. */
export function ClosedRanges() {
  const { field, fieldState } = useController<ShopFormValues, 'closed_ranges'>({ name: 'closed_ranges' });
  const { ref, value: ranges, onChange } = field;
  const addButton = useRef<HTMLButtonElement>(null);
  const change = (index: number, part: Partial<ClosedRange>) =>
    onChange(ranges.map((range, position) => (position === index ? { ...range, ...part } : range)));
  const remove = (index: number) => {
    onChange(ranges.toSpliced(index, 1));
    // The focused button disappears together with the range.
    addButton.current?.focus();
  };
  return (
    <fieldset className="closed-dates">
      <legend className="label" ref={ref} tabIndex={-1}>
        {t('ranges.label')}
      </legend>
      {ranges.map(({ from, to, reason }, index) => (
        // Ranges have no identity besides their position.
        <div key={index} className="inline range">
          {/* The first date is also the last date until the person chooses another one. */}
          <TextField
            autoFocus={from === ''}
            label={t('sales.from')}
            type="date"
            value={from}
            onChange={({ target: { value } }) =>
              change(index, { from: value, to: to === '' || to === from ? value : to })
            }
          />
          <TextField
            label={t('sales.to')}
            type="date"
            min={from}
            value={to}
            onChange={({ target }) => change(index, { to: target.value })}
          />
          <TextField
            label={t('reason')}
            maxLength={100}
            value={reason ?? ''}
            onChange={({ target }) => change(index, { reason: target.value })}
          />
          <Button
            className="link"
            aria-label={from === '' ? t('remove') : t('removeNamed', { name: `${from} – ${to}` })}
            onClick={() => remove(index)}
          >
            {t('remove')}
          </Button>
        </div>
      ))}
      <Button ref={addButton} className="button quiet small" onClick={() => onChange([...ranges, NEW_RANGE])}>
        {t('ranges.add')}
      </Button>
      <p className="error" role="alert">
        {fieldState.error?.message}
      </p>
    </fieldset>
  );
}
