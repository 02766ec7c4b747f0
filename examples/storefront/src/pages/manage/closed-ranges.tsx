import { useRef } from 'react';
import { useController } from 'react-hook-form';
import { formatDateWithYear } from '../../calendar';
import { Button } from '../../components/button';
import { TextField } from '../../components/field';
import { t } from '../../i18n';
import { RemovableList } from './removable-list';
import { addRange, type ClosedRange, EMPTY_RANGE, type ShopFormValues } from './shop-values';

/** Form fields for the closed ranges, whose reasons customers see. `newClosedRange` is the range that is being typed. */
export function ClosedRanges() {
  const { field, fieldState } = useController<ShopFormValues, 'closed_ranges'>({ name: 'closed_ranges' });
  const { ref, value: ranges, onChange } = field;
  const draft = useController<ShopFormValues, 'newClosedRange'>({ name: 'newClosedRange' }).field;
  const range = draft.value;
  const { from, to, reason } = range;
  const firstInput = useRef<HTMLInputElement>(null);
  const change = (part: Partial<typeof EMPTY_RANGE>) => draft.onChange({ ...range, ...part });
  const add = () => {
    onChange(addRange(ranges, range));
    draft.onChange(EMPTY_RANGE);
    // The button is disabled now, so it would lose the focus.
    firstInput.current?.focus();
  };
  const remove = (index: number) => {
    onChange(ranges.toSpliced(index, 1));
    firstInput.current?.focus();
  };
  return (
    <fieldset className="closed-dates">
      <legend className="label" ref={ref} tabIndex={-1}>
        {t('ranges.label')}
      </legend>
      <div className="inline range">
        {/* The first date is also the last date until the person chooses another one. */}
        <TextField
          ref={firstInput}
          label={t('sales.from')}
          type="date"
          value={from}
          onChange={({ target: { value } }) =>
            change({ from: value, to: to === '' || to === from ? value : to })
          }
        />
        <TextField
          label={t('sales.to')}
          type="date"
          min={from}
          value={to}
          onChange={({ target }) => change({ to: target.value })}
        />
        <TextField
          label={t('reason')}
          maxLength={100}
          value={reason}
          onChange={({ target }) => change({ reason: target.value })}
        />
        <Button className="button quiet small" disabled={from === '' || to < from} onClick={add}>
          {t('ranges.add')}
        </Button>
      </div>
      <RemovableList label={t('ranges.label')} items={ranges.map(toItem)} onRemove={remove} />
      <p className="error" role="alert">
        {fieldState.error?.message}
      </p>
    </fieldset>
  );
}

function toItem({ from, to, reason }: ClosedRange) {
  const text = t('ranges.item', { from: formatDateWithYear(from), to: formatDateWithYear(to) });
  return { name: `${from} – ${to}`, text: reason === null ? text : `${text} ${reason}` };
}
