import { dataOf } from 'bakery-client';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { CodeField, Field, Form, NewPasswordFields } from '../../components/form';
import { FormPage } from '../../components/page';
import { toast } from '../../state/toast';

/** First the address, then a new password with the code that was mailed there. */
export default function ForgotPage() {
  const [email, setEmail] = useState<string>();
  return email === undefined ? <RequestStep onSent={setEmail} /> : <ResetStep email={email} />;
}

function RequestStep({ onSent }: { onSent: (email: string) => void }) {
  const request = async (body: Schemas['ForgotPasswordDto']) => {
    await dataOf(api.POST('/api/password/forgot', { body }));
    onSent(body.email);
  };
  return (
    <FormPage title="Forgot your password?">
      <p>We send you a code with which you choose a new one.</p>
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
        If <strong>{email}</strong> has an account, a code is on its way there.
      </p>
      <Form submit="Set the password" onSubmit={reset}>
        <CodeField />
        <NewPasswordFields label="New password" />
      </Form>
    </FormPage>
  );
}
