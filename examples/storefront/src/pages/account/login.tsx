import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api } from '../../api/client';
import { Field, Form } from '../../components/form';
import { FormPage } from '../../components/page';
import { useSession } from '../../state/session';

export function LoginPage() {
  const { search } = useLocation();
  const { signIn } = useSession();
  // After the sign-in GuestsOnly leads on.
  const login = async (body: { email: string; password: string }) =>
    signIn((await dataOf(api.POST('/api/login', { body }))).user);
  return (
    <FormPage title="Welcome back">
      <Form defaultValues={{ email: '', password: '' }} submit="Sign in" onSubmit={login}>
        <Field name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
        <Field name="password" label="Password" type="password" autoComplete="current-password" />
      </Form>
      <p>
        <Link to="/forgot">Forgot your password?</Link>
      </p>
      <p>
        New here? <Link to={`/register${search}`}>Create an account</Link>.
      </p>
    </FormPage>
  );
}
