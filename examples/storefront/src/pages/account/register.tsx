import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Field, Form, NewPasswordFields } from '../../components/form';
import { FormPage } from '../../components/page';
import { storePerson } from '../../state/session';

export default function RegisterPage() {
  const { search } = useLocation();
  // The route's guard, `GuestsOnly`, redirects after the registration.
  const register = async (body: Schemas['RegisterDto']) => {
    const { user } = await dataOf(api.POST('/api/register', { body }));
    storePerson({ ...user, emailVerified: false });
  };
  return (
    <FormPage title="Create an account">
      <Form submit="Create account" onSubmit={register}>
        <Field name="fullname" label="Your name" autoComplete="name" maxLength={255} autoFocus />
        <Field name="email" label="E-mail" type="email" autoComplete="username" />
        <NewPasswordFields label="Password" />
      </Form>
      <p>
        Been here before? <Link to={`/login${search}`}>Sign in</Link>.
      </p>
    </FormPage>
  );
}
