import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Field, Form, PasswordField } from '../../components/form';
import { FormPage } from '../../components/page';
import { storePerson } from '../../state/session';

export default function LoginPage() {
  const { search } = useLocation();
  // After `storePerson`, the guard of this route, `GuestsOnly`, redirects.
  const login = async (body: Schemas['LoginDto']) =>
    storePerson((await dataOf(api.POST('/api/login', { body }))).user);
  return (
    <FormPage title="Welcome back">
      <Form submit="Sign in" onSubmit={login}>
        <Field name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
        <PasswordField />
      </Form>
      <Link to="/forgot">Forgot your password?</Link>
      <p>
        New here? <Link to={`/register${search}`}>Create an account</Link>.
      </p>
    </FormPage>
  );
}
