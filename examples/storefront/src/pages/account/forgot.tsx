import { dataOf } from 'bakery-client';
import { Link, useLocation, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { CodeField, Field, Form, NewPasswordFields } from '../../components/form';
import { FormPage } from '../../components/page';
import { toast } from '../../state/toast';

/** State of the history entry. Unlike the page's URL, this state cannot appear in logs. It survives a reload. */
interface ForgotState {
  email?: string;
}

/** Asks for the e-mail address, then for the mailed code and a new password. */
export default function ForgotPage() {
  const { email } = (useLocation().state ?? {}) as ForgotState;
  return email === undefined ? <RequestStep /> : <ResetStep email={email} />;
}

function RequestStep() {
  const navigate = useNavigate();
  const request = async (body: Schemas['ForgotPasswordDto']) => {
    await dataOf(api.POST('/api/password/forgot', { body }));
    const state: ForgotState = { email: body.email };
    await navigate('/forgot', { state });
  };
  return (
    <FormPage title="Forgot your password?">
      <p>We send you a code. Use it to choose a new password.</p>
      <Form submit="Send the code" onSubmit={request}>
        <Field name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
      </Form>
      <Link to="/login">Back to signing in</Link>
    </FormPage>
  );
}

function ResetStep({ email }: { email: string }) {
  const navigate = useNavigate();
  const reset = async (values: Omit<Schemas['ResetPasswordDto'], 'email'>) => {
    await dataOf(api.POST('/api/password/reset', { body: { ...values, email, otp: values.otp.trim() } }));
    toast('Your new password is set. Please sign in with it.');
    await navigate('/login', { replace: true });
  };
  return (
    <FormPage title="Choose a new password">
      <p>
        If <strong>{email}</strong> has an account, you get a mail with a code. If you asked less than a
        minute ago, use the code that you have.
      </p>
      <Form submit="Set the password" onSubmit={reset}>
        <CodeField />
        <NewPasswordFields label="New password" />
      </Form>
      <Link to="/forgot">Use another address</Link>
    </FormPage>
  );
}
