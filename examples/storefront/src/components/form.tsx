import { BakeryFailure } from 'bakery-client';
import { type ComponentProps, type ReactNode, useId } from 'react';
import {
  type DefaultValues,
  type FieldValues,
  FormProvider,
  type Path,
  useForm,
  useFormContext,
} from 'react-hook-form';
import { explain, shopMessage } from '../api/errors';
import { Alert } from './page';

interface FormProps<Values> {
  /** Text of the button. */
  submit: string;
  defaultValues?: DefaultValues<Values>;
  /** Gets the values of the fields by name. A failure that it rejects with is shown, at the fields that it names. */
  onSubmit: (values: Values, reset: () => void) => Promise<void>;
  children: ReactNode;
}

/** A form whose values are checked by the service: its messages are shown at their fields. */
export function Form<Values extends FieldValues>(props: FormProps<Values>) {
  const { submit, defaultValues, onSubmit, children } = props;
  const form = useForm<Values>(defaultValues && { defaultValues });
  const { isSubmitting, errors } = form.formState;
  const send = form.handleSubmit(async (values) => {
    if (isSubmitting) return;
    try {
      await onSubmit(values, form.reset);
    } catch (error) {
      const details = error instanceof BakeryFailure ? error.details : {};
      const wrong = Object.keys(values).filter((name) => name in details);
      for (const [index, name] of wrong.entries()) {
        const message = shopMessage(details[name] ?? '');
        form.setError(name as Path<Values>, { message }, { shouldFocus: index === 0 });
      }
      if (wrong.length === 0) form.setError('root', { message: explain(error) });
    }
  });
  return (
    <FormProvider {...form}>
      <form className="form" noValidate onSubmit={(event) => void send(event)}>
        {children}
        <Alert>{errors.root?.message}</Alert>
        <button className="button" aria-disabled={isSubmitting}>
          {submit}
        </button>
      </form>
    </FormProvider>
  );
}

interface FieldProps extends ComponentProps<'input'> {
  /** Key of the value, and of its message in the service's answer. */
  name: string;
  label: string;
  hint?: string;
  /** Whether the text has several lines. */
  multiline?: boolean;
}

export function Field({ name, label, hint, multiline = false, ...attributes }: FieldProps) {
  const { register, getFieldState, formState } = useFormContext();
  const message = getFieldState(name, formState).error?.message;
  const id = useId();
  // React Hook Form keeps the value; the tag decides how it is edited.
  const Tag: 'input' = multiline ? ('textarea' as 'input') : 'input';
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <Tag
        id={id}
        autoComplete="off"
        aria-describedby={`${id}-hint ${id}-complaint`}
        aria-invalid={message === undefined ? undefined : true}
        {...attributes}
        {...register(name)}
      />
      <p className="complaint" id={`${id}-complaint`}>
        {message}
      </p>
    </div>
  );
}

/** The password of an account. */
export function PasswordField({ name = 'password', label = 'Password' }) {
  return <Field name={name} label={label} type="password" autoComplete="current-password" />;
}

/** A password that one chooses, twice. */
export function NewPasswordFields({ label }: { label: string }) {
  const attributes = { type: 'password', autoComplete: 'new-password' };
  return (
    <>
      <Field name="password" label={label} hint="At least 8 characters are recommended." {...attributes} />
      <Field name="passwordConfirmation" label="Repeat password" {...attributes} />
    </>
  );
}

/** The code that the service has mailed. */
export function CodeField() {
  const hint = 'Six digits. Expires after 10 minutes.';
  return (
    <Field name="otp" label="Code" autoComplete="one-time-code" inputMode="numeric" hint={hint} autoFocus />
  );
}
