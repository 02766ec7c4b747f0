import { useId, useState } from 'react';
import { t } from '../i18n';
import { MAX_QUANTITY } from '../state/cart';

interface QuantityPickerProps {
  name: string;
  value: number;
  onChange: (quantity: number) => void;
}

/** Field for a number of pieces, with buttons for one less and one more. */
export function QuantityPicker({ name, value, onChange }: QuantityPickerProps) {
  // Text while a person types: it may be empty or an impossible quantity. If null, the field shows `value`.
  const [draft, setDraft] = useState<string | null>(null);
  const [hasError, setHasError] = useState(false);
  const id = useId();
  const tryChange = (quantity: number) => {
    const isPossible = Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY;
    if (isPossible) onChange(quantity);
    return isPossible;
  };
  const changeText = (text: string) => {
    setDraft(text);
    // An empty field is a quantity that is still being typed.
    setHasError(!tryChange(Number(text)) && text !== '');
  };
  const stepTo = (quantity: number) => {
    setDraft(null);
    setHasError(!tryChange(quantity));
  };
  return (
    <div className="quantity-field">
      <div className="quantity">
        <button type="button" aria-label={t('quantity.less', { name })} onClick={() => stepTo(value - 1)}>
          −
        </button>
        <input
          type="number"
          min={1}
          max={MAX_QUANTITY}
          inputMode="numeric"
          aria-label={t('quantity.label', { name })}
          aria-describedby={id}
          aria-invalid={(draft !== null && hasError) || undefined}
          value={draft ?? value}
          onChange={({ target }) => changeText(target.value)}
          onBlur={() => setDraft(null)}
        />
        <button type="button" aria-label={t('quantity.more', { name })} onClick={() => stepTo(value + 1)}>
          +
        </button>
      </div>
      <p className="error" id={id} role="status">
        {hasError && t('quantity.impossible', { max: MAX_QUANTITY, value })}
      </p>
    </div>
  );
}
