import { dataOf } from 'bakery-client';
import { Link, useLocation, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Form, FormField } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { CodeField, NewPasswordFields } from './fields';

/** State of the history entry. Unlike the page's URL, this state cannot appear in logs. It survives a reload. */
interface ForgotState {
  email?: string;
  /** True after the code was requested for this address. */
  isRequested?: boolean;
}

/** Asks for the email address, then for the mailed code and a new password. */
export default function ForgotPage() {
  const { email = '', isRequested } = (useLocation().state ?? {}) as ForgotState;
  return isRequested ? <ResetStep email={email} /> : <RequestStep email={email} />;
}

function RequestStep({ email }: { email: string }) {
  const { search } = useLocation();
  const navigate = useNavigate();
  const request = async (body: Schemas['ForgotPasswordDto']) => {
    await dataOf(api.POST('/api/password/forgot', { body }));
    const state: ForgotState = { email: body.email, isRequested: true };
    await navigate(`/forgot${search}`, { state });
  };
  return (
    <FormPage title={t('account.forgot')}>
      <p>{t('forgot.lead')}</p>
      <Form submitLabel={t('forgot.send')} defaultValues={{ email }} onSubmit={request}>
        <FormField name="email" label={t('account.email')} type="email" autoComplete="username" autoFocus />
      </Form>
      <Link to={`/login${search}`}>{t('forgot.back')}</Link>
    </FormPage>
  );
}

function ResetStep({ email }: { email: string }) {
  const navigate = useNavigate();
  const { search } = useLocation();
  const reset = async (values: Omit<Schemas['ResetPasswordDto'], 'email'>) => {
    const otp = values.otp.replaceAll(/\s/g, '');
    await dataOf(api.POST('/api/password/reset', { body: { ...values, email, otp } }));
    showToast(t('forgot.done'));
    await navigate(`/login${search}`, { replace: true });
  };
  return (
    <FormPage title={t('forgot.choose')}>
      <p>{t('forgot.sent', { email })}</p>
      <Form submitLabel={t('forgot.set')} onSubmit={reset}>
        <CodeField />
        <NewPasswordFields label={t('account.newPassword')} />
      </Form>
      <Link to={`/forgot${search}`}>{t('forgot.other')}</Link>
    </FormPage>
  );
}
