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

export type TextFieldProps = FieldTexts & ComponentProps<'input'>;

/** Labelled `input` of any type that takes text. */
export function TextField({ label, hint, message, ...attributes }: TextFieldProps) {
  return (
    <FieldFrame label={label} hint={hint} message={message}>
      {(control) => <input {...control} {...attributes} />}
    </FieldFrame>
  );
}

export type TextAreaProps = FieldTexts & ComponentProps<'textarea'>;

/** Labelled `textarea`. */
export function TextArea({ label, hint, message, ...attributes }: TextAreaProps) {
  return (
    <FieldFrame label={label} hint={hint} message={message}>
      {(control) => <textarea {...control} {...attributes} />}
    </FieldFrame>
  );
}
