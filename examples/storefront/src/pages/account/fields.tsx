import { FormField } from '../../components/form';
import { t } from '../../i18n';

export function CurrentPasswordField({ name = 'password', label = t('account.password') }) {
  return <FormField name={name} label={label} type="password" autoComplete="current-password" />;
}

/** Fields for a new password and its repetition. */
export function NewPasswordFields({ label }: { label: string }) {
  const attributes = { type: 'password', autoComplete: 'new-password' };
  return (
    <>
      <FormField name="password" label={label} hint={t('account.passwordHint')} {...attributes} />
      <FormField name="passwordConfirmation" label={t('account.repeatPassword')} {...attributes} />
    </>
  );
}

/** Field for a code that was mailed. */
export function CodeField() {
  return (
    <FormField
      name="otp"
      label={t('account.code')}
      autoComplete="one-time-code"
      inputMode="numeric"
      hint={t('account.codeHint')}
      autoFocus
    />
  );
}
