import { MAX_QUANTITY } from '../cart.js';
import { h } from '../dom.js';

/** A number of pieces with buttons for one less and one more. */
export function quantityPicker(
  name: string,
  value: number,
  changed: (quantity: number) => void,
): { readonly node: HTMLElement; readonly input: HTMLInputElement } {
  const input = h('input', {
    type: 'number',
    min: 1,
    max: MAX_QUANTITY,
    inputmode: 'numeric',
    value,
    'aria-label': `Quantity of ${name}`,
    on: {
      change: () => {
        set(Number(input.value));
      },
    },
  });
  const set = (quantity: number): void => {
    const kept = Math.min(MAX_QUANTITY, Math.max(1, Math.trunc(quantity) || 1));
    input.value = String(kept);
    changed(kept);
  };
  const step = (label: string, sign: string, by: number): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        'aria-label': label,
        on: {
          click: () => {
            set(Number(input.value) + by);
          },
        },
      },
      sign,
    );
  return {
    node: h(
      'div',
      { class: 'quantity' },
      step(`One less of ${name}`, '−', -1),
      input,
      step(`One more of ${name}`, '+', 1),
    ),
    input,
  };
}
