import { useState } from 'react';
import { MAX_QUANTITY } from '../state/cart';

interface QuantityPickerProps {
  /** Of the product. */
  name: string;
  value: number;
  onChange: (quantity: number) => void;
}

/** A number of pieces, with buttons for one less and one more. */
export function QuantityPicker({ name, value, onChange }: QuantityPickerProps) {
  // While it is typed, the text may be no number yet.
  const [draft, setDraft] = useState<string | null>(null);
  const change = (quantity: number) => {
    if (Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY) onChange(quantity);
  };
  return (
    <div className="quantity">
      <button type="button" aria-label={`One less of ${name}`} onClick={() => change(value - 1)}>
        −
      </button>
      <input
        type="number"
        min={1}
        max={MAX_QUANTITY}
        inputMode="numeric"
        aria-label={`Quantity of ${name}`}
        value={draft ?? value}
        onChange={({ target }) => {
          setDraft(target.value);
          change(Number(target.value));
        }}
        onBlur={() => setDraft(null)}
      />
      <button type="button" aria-label={`One more of ${name}`} onClick={() => change(value + 1)}>
        +
      </button>
    </div>
  );
}
