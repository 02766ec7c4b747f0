import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldFrameProps {
  label: string;
  hint?: string | undefined;
  /** Validation message. */
  message?: string | undefined;
  /** Renders the input with the attributes that connect it with its label, hint and message. */
  children: (attributes: ComponentProps<'input'>) => ReactNode;
}

/** Label, hint and validation message around an input. */
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
        'aria-describedby': `${id}-hint ${id}-complaint`,
        'aria-invalid': message === undefined ? undefined : true,
      })}
      <p className="complaint" id={`${id}-complaint`}>
        {message}
      </p>
    </div>
  );
}
