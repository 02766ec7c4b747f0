import { type ReactNode, useEffect } from 'react';
import {
  type DefaultValues,
  type FieldValues,
  FormProvider,
  type Path,
  useForm,
  useFormContext,
  type UseFormReturn,
} from 'react-hook-form';
import { explain, getFieldMessages } from '../api/errors';
import { useLanguage } from '../i18n';
import { Button } from './button';
import { FieldFrame, TextArea, type TextAreaProps, TextField, type TextFieldProps } from './field';
import { Alert } from './notice';

/** Reads and changes the values of a form. */
export type FormControl<Values extends FieldValues> = Pick<
  UseFormReturn<Values>,
  'getValues' | 'reset' | 'setValue'
>;

interface FormProps<Values extends FieldValues> {
  /** Label of the button. */
  submitLabel: string;
  defaultValues?: DefaultValues<Values>;
  /** If the promise is rejected, the form shows the failure. */
  onSubmit: (values: Values, form: FormControl<Values>) => Promise<void>;
  children: ReactNode;
}

/** Form that shows the service's validation messages at their fields, and other failures above the button. */
export function Form<Values extends FieldValues>(props: FormProps<Values>) {
  const { submitLabel, defaultValues, onSubmit, children } = props;
  const form = useForm<Values>(defaultValues && { defaultValues });
  const { isSubmitting, errors } = form.formState;
  const send = form.handleSubmit(async (values) => {
    try {
      await onSubmit(values, form);
    } catch (error) {
      const fields = Object.keys(values);
      const messages = Object.entries(getFieldMessages(error, fields));
      // In the order of the form, so that the first field with a message gets the focus.
      messages.sort(([one], [other]) => fields.indexOf(one) - fields.indexOf(other));
      messages.forEach(([name, message], index) =>
        form.setError(name as Path<Values>, { message }, { shouldFocus: index === 0 }),
      );
      // Empty if the fields show all messages.
      const otherMessage = explain(error, fields);
      if (otherMessage !== '') form.setError('root', { message: otherMessage });
    }
  });
  const { clearErrors } = form;
  const language = useLanguage();
  // Messages stay in the language in which they were created, so remove them.
  useEffect(() => clearErrors(), [clearErrors, language]);
  return (
    <FormProvider {...form}>
      <form className="form" noValidate onSubmit={(event) => void send(event)}>
        {children}
        <Alert>{errors.root?.message}</Alert>
        <Button type="submit" isBusy={isSubmitting}>
          {submitLabel}
        </Button>
      </form>
    </FormProvider>
  );
}

interface BoundFieldProps {
  /** Key of the value, and of its message in the response of the service. */
  name: string;
}

/** Returns the attributes that bind a field to a value of the form, and the validation message of this value. */
function useBoundField(name: string) {
  const { register, getFieldState, formState } = useFormContext();
  return { message: getFieldState(name, formState).error?.message, ...register(name) };
}

/** Text field that is bound to a value of the form, and shows the validation message of this value. */
export function FormField({ name, ...attributes }: TextFieldProps & BoundFieldProps) {
  return <TextField autoComplete="off" {...attributes} {...useBoundField(name)} />;
}

/** Like `FormField`, for a text of several lines. */
export function FormTextArea({ name, ...attributes }: TextAreaProps & BoundFieldProps) {
  return <TextArea autoComplete="off" {...attributes} {...useBoundField(name)} />;
}

interface SelectFieldProps extends BoundFieldProps, Pick<TextFieldProps, 'label' | 'hint'> {
  /** Value and text of each option. */
  options: readonly (readonly [value: string, text: string])[];
}

/** Select box that is bound to a value of the form, and shows the validation message of this value. */
export function SelectField({ name, label, hint, options }: SelectFieldProps) {
  const { message, ...attributes } = useBoundField(name);
  return (
    <FieldFrame label={label} hint={hint} message={message}>
      {(control) => (
        <select {...control} {...attributes}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}
