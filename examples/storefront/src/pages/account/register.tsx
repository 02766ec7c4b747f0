import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api } from '../../api/client';
import { Field, Form, NewPasswordFields } from '../../components/form';
import { FormPage } from '../../components/page';
import { useSession } from '../../state/session';

const EMPTY = { fullname: '', email: '', password: '', passwordConfirmation: '' };

export function RegisterPage() {
  const { search } = useLocation();
  const { signIn } = useSession();
  // After the registration GuestsOnly leads on.
  const register = async (body: typeof EMPTY) =>
    signIn((await dataOf(api.POST('/api/register', { body }))).user, false);
  return (
    <FormPage title="Create an account">
      <Form defaultValues={EMPTY} submit="Create account" onSubmit={register}>
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
