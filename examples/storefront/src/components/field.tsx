import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldTexts {
  label: string;
  hint?: string | undefined;
  message?: string | undefined;
}

/** Attributes that connect a control with its label, hint and message. */
type ControlAttributes = Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid'>;

interface FieldFrameProps extends FieldTexts {
  children: (attributes: ControlAttributes) => ReactNode;
}

/** Label, hint and validation message around a control. */
export function FieldFrame({ label, hint, message, children }: FieldFrameProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
      {children({
        id,
        'aria-describedby': `${id}-hint ${id}-error`,
        'aria-invalid': message === undefined ? undefined : true,
      })}
      <p className="error" id={`${id}-error`}>
        {message}
      </p>
    </div>
  );
}

export type TextFieldProps = FieldTexts & ComponentProps<'input'> & { isMultiline?: boolean };

/** Labelled `input` of any type that takes text, or a `textarea`. */
export function TextField({ label, hint, message, isMultiline = false, ...attributes }: TextFieldProps) {
  // Typed as 'input', because React's types of the two elements differ. Callers pass a textarea only attributes that both have.
  const Tag: 'input' = isMultiline ? ('textarea' as 'input') : 'input';
  return (
    <FieldFrame label={label} hint={hint} message={message}>
      {(control) => <Tag {...control} {...attributes} />}
    </FieldFrame>
  );
}
