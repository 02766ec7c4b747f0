import { useState } from 'react';
import { useController } from 'react-hook-form';
import type { Shop } from '../../api/client';
import { formatDate } from '../../calendar';
import { Button } from '../../components/button';
import { TextField } from '../../components/field';
import { t } from '../../i18n';

const EMPTY = { from: '', to: '', reason: '' };

/** Form field `closed_ranges`: holidays of several days, with a reason that customers see. */
export function ClosedRanges() {
  const { field, fieldState } = useController({ name: 'closed_ranges' });
  const ranges = field.value as Shop['closed_ranges'];
  const [{ from, to, reason }, setDraft] = useState(EMPTY);
  const add = () => {
    field.onChange([...ranges, { from, to, reason: reason.trim() || null }]);
    setDraft(EMPTY);
  };
  return (
    <fieldset className="closed-dates">
      <legend className="label">{t('ranges.label')}</legend>
      <div className="inline range">
        {/* The first date is also the last date until the person chooses another one. */}
        <TextField
          label={t('sales.from')}
          type="date"
          value={from}
          onChange={({ target }) => setDraft({ from: target.value, to: to || target.value, reason })}
        />
        <TextField
          label={t('sales.to')}
          type="date"
          min={from}
          value={to}
          onChange={({ target }) => setDraft({ from, to: target.value, reason })}
        />
        <TextField
          label={t('reason')}
          maxLength={100}
          value={reason}
          onChange={({ target }) => setDraft({ from, to, reason: target.value })}
        />
        <Button className="button quiet small" disabled={from === '' || to < from} onClick={add}>
          {t('ranges.add')}
        </Button>
      </div>
      <ul aria-label={t('ranges.label')}>
        {ranges.map((range, index) => (
          <li key={`${range.from} ${range.to}`}>
            {t('ranges.item', { from: formatDate(range.from), to: formatDate(range.to) })} {range.reason}
            <Button
              className="link"
              aria-label={t('removeNamed', { name: `${range.from} – ${range.to}` })}
              onClick={() => field.onChange(ranges.toSpliced(index, 1))}
            >
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
      <p className="error" role="alert">
        {fieldState.error?.message}
      </p>
    </fieldset>
  );
}
