import { BakeryFailure } from 'bakery-client';
import { explain } from '../api.js';
import { type Child, fill, h } from '../dom.js';
import { sentence } from '../format.js';

export interface Field {
  readonly node: HTMLElement;
  readonly input: HTMLInputElement | HTMLTextAreaElement;
  /** Shows or, without a text, hides what is wrong with the value. */
  readonly complain: (text?: string) => void;
}

interface FieldOptions {
  /** As the service calls it in `details`; also the key of the value. */
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'textarea';
  readonly value?: string;
  readonly autocomplete?: string;
  readonly inputmode?: 'decimal' | 'numeric';
  readonly maxlength?: number;
  readonly hint?: string;
  readonly autofocus?: boolean;
}

let fields = 0;

export function field(options: FieldOptions): Field {
  fields += 1;
  const id = `field-${fields}`;
  const attributes = {
    id,
    name: options.name,
    autocomplete: options.autocomplete ?? 'off',
    inputmode: options.inputmode,
    maxlength: options.maxlength,
    autofocus: options.autofocus,
    'aria-describedby': `${id}-hint ${id}-complaint`,
  };
  const input =
    options.type === 'textarea'
      ? h('textarea', { ...attributes, rows: 5 })
      : h('input', { ...attributes, type: options.type ?? 'text' });
  input.value = options.value ?? '';
  const complaint = h('p', { class: 'complaint', id: `${id}-complaint` });
  const complain = (text?: string): void => {
    fill(complaint, text !== undefined && sentence(text));
    if (text === undefined) input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
  };
  // What was wrong with the value before says nothing about the one that is being typed.
  input.addEventListener('input', () => {
    complain();
  });
  return {
    node: h(
      'div',
      { class: 'field' },
      h('label', { for: id }, options.label),
      options.hint !== undefined && h('p', { class: 'hint', id: `${id}-hint` }, options.hint),
      input,
      complaint,
    ),
    input,
    complain,
  };
}

interface FormOptions {
  readonly fields: readonly Field[];
  readonly submit: string;
  /** Beside the fields, before the button. */
  readonly extra?: Child;
  /** Values by field name. A rejection is shown, at its fields where it names them. */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<void>;
  /** Shows messages of the service for what is no field of this form. @returns whether it did */
  readonly complain?: (details: Readonly<Record<string, string>>) => boolean;
}

/** A form whose values the service judges: its messages are shown at their fields. */
export function form(options: FormOptions): HTMLFormElement {
  const alert = h('div', { role: 'alert' });
  const button = h('button', { class: 'button', type: 'submit' }, options.submit);
  let isSending = false;

  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    fill(alert);
    for (const { complain } of options.fields) complain();
    button.setAttribute('aria-disabled', 'true');
    button.classList.add('busy');
    try {
      await options.send(Object.fromEntries(options.fields.map(({ input }) => [input.name, input.value])));
    } catch (error) {
      show(error);
    } finally {
      isSending = false;
      button.removeAttribute('aria-disabled');
      button.classList.remove('busy');
    }
  };
  const show = (error: unknown): void => {
    const details = error instanceof BakeryFailure ? error.details : {};
    const wrong = options.fields.filter(({ input }) => details[input.name] !== undefined);
    for (const { input, complain } of wrong) complain(details[input.name]);
    const isShown = options.complain?.(details) === true || wrong.length > 0;
    if (!isShown) fill(alert, h('p', { class: 'alert' }, explain(error)));
    wrong[0]?.input.focus();
  };

  return h(
    'form',
    {
      class: 'form',
      novalidate: true,
      on: {
        submit: (event) => {
          event.preventDefault();
          void send();
        },
      },
    },
    options.fields.map(({ node }) => node),
    options.extra,
    alert,
    button,
  );
}
