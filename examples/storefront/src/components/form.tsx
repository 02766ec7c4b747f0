import { BakeryFailure } from 'bakery-client';
import type { ComponentProps, ReactNode } from 'react';
import {
  type DefaultValues,
  type FieldValues,
  FormProvider,
  type Path,
  useForm,
  useFormContext,
} from 'react-hook-form';
import { explain, shopMessage } from '../api/errors';
import { FieldFrame } from './field';
import { Alert } from './page';

interface FormProps<Values> {
  /** Text of the submit button. */
  submit: string;
  defaultValues?: DefaultValues<Values>;
  /** Gets the values by field name. If it rejects with a failure, the form shows the messages at their fields. */
  onSubmit: (values: Values, reset: () => void) => Promise<void>;
  children: ReactNode;
}

/** Form that shows the service's validation messages at their fields. */
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
      const [ofFields, others] = partition(Object.entries(details), ([name]) => name in values);
      for (const [index, [name, text]] of ofFields.entries()) {
        const message = shopMessage(text);
        form.setError(name as Path<Values>, { message }, { shouldFocus: index === 0 });
      }
      const rest = others.map(([, text]) => shopMessage(text)).join(' ');
      if (rest !== '' || ofFields.length === 0) form.setError('root', { message: rest || explain(error) });
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

/** Splits a list into the items that match and the others. */
function partition<Item>(items: Item[], matches: (item: Item) => boolean) {
  return [items.filter(matches), items.filter((item) => !matches(item))] as const;
}

interface FieldProps extends ComponentProps<'input'> {
  /** Key of the value, and of its message in the response of the service. */
  name: string;
  label: string;
  hint?: string;
  /** Renders a text area. */
  multiline?: boolean;
}

export function Field({ name, label, hint, multiline = false, ...attributes }: FieldProps) {
  const { register, getFieldState, formState } = useFormContext();
  const message = getFieldState(name, formState).error?.message;
  // `register` has the same type for both tags.
  const Tag: 'input' = multiline ? ('textarea' as 'input') : 'input';
  return (
    <FieldFrame label={label} hint={hint} message={message}>
      {(frame) => <Tag autoComplete="off" {...frame} {...attributes} {...register(name)} />}
    </FieldFrame>
  );
}

/** Current password of an account. */
export function PasswordField({ name = 'password', label = 'Password' }) {
  return <Field name={name} label={label} type="password" autoComplete="current-password" />;
}

/** New password, entered twice. */
export function NewPasswordFields({ label }: { label: string }) {
  const attributes = { type: 'password', autoComplete: 'new-password' };
  return (
    <>
      <Field name="password" label={label} hint="At least 8 characters are recommended." {...attributes} />
      <Field name="passwordConfirmation" label="Repeat password" {...attributes} />
    </>
  );
}

/** Mailed one-time code. */
export function CodeField() {
  const hint = 'Six digits. Expires after 10 minutes.';
  return (
    <Field name="otp" label="Code" autoComplete="one-time-code" inputMode="numeric" hint={hint} autoFocus />
  );
}
