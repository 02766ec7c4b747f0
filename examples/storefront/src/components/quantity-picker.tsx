import { useId, useState } from 'react';
import { t } from '../i18n';
import { MAX_QUANTITY } from '../state/cart';

interface QuantityPickerProps {
  name: string;
  value: number;
  onChange: (quantity: number) => void;
}

/**
 * Field for a number of pieces, with buttons for one less and one more. An impossible quantity that is typed stays in the field,
 * with a message, and changes nothing.
 */
export function QuantityPicker({ name, value, onChange }: QuantityPickerProps) {
  // Text that is not a possible quantity. If null, the field shows `value`.
  const [draft, setDraft] = useState<string | null>(null);
  const id = useId();
  // An empty field is a quantity that is still being typed.
  const hasError = draft !== null && draft !== '';
  const change = (quantity: number, text: string | null = null) => {
    const isPossible = Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY;
    setDraft(isPossible ? null : text);
    if (isPossible) onChange(quantity);
  };
  return (
    <div className="quantity-field">
      <div className="quantity">
        <button type="button" aria-label={t('quantity.less', { name })} onClick={() => change(value - 1)}>
          −
        </button>
        <input
          type="number"
          min={1}
          max={MAX_QUANTITY}
          inputMode="numeric"
          aria-label={t('quantity.label', { name })}
          aria-describedby={id}
          aria-invalid={hasError || undefined}
          value={draft ?? value}
          onChange={({ target }) => change(Number(target.value), target.value)}
          onBlur={() => draft === '' && setDraft(null)}
        />
        <button type="button" aria-label={t('quantity.more', { name })} onClick={() => change(value + 1)}>
          +
        </button>
      </div>
      <p className="error" id={id} role="status">
        {hasError && t('quantity.impossible', { max: MAX_QUANTITY, value })}
      </p>
    </div>
  );
}
