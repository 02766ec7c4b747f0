import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Field, Form, PasswordField } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { storePerson } from '../../state/session';
import { t } from '../../i18n';

export default function LoginPage() {
  const { search } = useLocation();
  // After `storePerson`, the guard of this route, `GuestsOnly`, redirects.
  const login = async (body: Schemas['LoginDto']) =>
    storePerson((await dataOf(api.POST('/api/login', { body }))).user);
  return (
    <FormPage title={t('login.title')}>
      <Form submit={t('account.signIn')} onSubmit={login}>
        <Field name="email" label={t('account.email')} type="email" autoComplete="username" autoFocus />
        <PasswordField />
      </Form>
      <Link to="/forgot">{t('account.forgot')}</Link>
      <p>
        {t('login.new')} <Link to={`/register${search}`}>{t('account.create')}</Link>.
      </p>
    </FormPage>
  );
}
