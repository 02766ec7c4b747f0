import { BakeryFailure } from 'bakery-client';
import { type ComponentProps, type ReactNode, useId } from 'react';
import {
  type DefaultValues,
  type FieldValues,
  FormProvider,
  type Path,
  useForm,
  useFormContext,
  type UseFormReturn,
} from 'react-hook-form';
import { explain, shopMessage } from '../api/errors';

interface FormProps<Values> {
  defaultValues: Values;
  /** Text of the button. */
  submit: string;
  /** A failure that it rejects with is shown, at the fields that it names. */
  onSubmit: (values: Values) => Promise<void>;
  /** Whether the fields are empty again when it is sent. */
  resetsAfterwards?: boolean;
  children: ReactNode;
}

/** A form whose values are checked by the service: its messages are shown at their fields. */
export function Form<Values extends FieldValues>(props: FormProps<Values>) {
  const { defaultValues, submit, onSubmit, resetsAfterwards = false, children } = props;
  const form = useForm<Values>({ defaultValues: defaultValues as DefaultValues<Values> });
  const { isSubmitting, errors } = form.formState;
  const send = form.handleSubmit(async (values) => {
    if (isSubmitting) return;
    try {
      await onSubmit(values);
      if (resetsAfterwards) form.reset();
    } catch (error) {
      showFailure(form, error);
    }
  });
  return (
    <FormProvider {...form}>
      <form className="form" noValidate onSubmit={(event) => void send(event)}>
        {children}
        <div role="alert">{errors.root && <p className="alert">{errors.root.message}</p>}</div>
        <button className={isSubmitting ? 'button busy' : 'button'} aria-disabled={isSubmitting}>
          {submit}
        </button>
      </form>
    </FormProvider>
  );
}

function showFailure<Values extends FieldValues>(form: UseFormReturn<Values>, error: unknown) {
  const details = error instanceof BakeryFailure ? error.details : {};
  const wrong = Object.keys(form.getValues()).filter((name) => name in details);
  for (const [index, name] of wrong.entries()) {
    const message = shopMessage(details[name] ?? '');
    form.setError(name as Path<Values>, { message }, { shouldFocus: index === 0 });
  }
  if (wrong.length === 0) form.setError('root', { message: explain(error) });
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
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
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

/** A password that one chooses, twice. */
export function NewPasswordFields({ label }: { label: string }) {
  const hint = 'At least 8 characters are recommended.';
  return (
    <>
      <Field name="password" label={label} type="password" autoComplete="new-password" hint={hint} />
      <Field
        name="passwordConfirmation"
        label="Repeat password"
        type="password"
        autoComplete="new-password"
      />
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
