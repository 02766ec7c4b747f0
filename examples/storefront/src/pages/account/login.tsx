import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { FormField, Form, PasswordField } from '../../components/form';
import { FormPage } from '../../components/page';
import { storeUser } from '../../state/session';
import { t } from '../../i18n';

export default function LoginPage() {
  const { search } = useLocation();
  const login = async (body: Schemas['LoginDto']) => {
    const { user } = await dataOf(api.POST('/api/login', { body }));
    // The route's guard, `GuestsOnly`, redirects as soon as the user is stored.
    storeUser(user);
  };
  return (
    <FormPage title={t('login.title')}>
      <Form submit={t('account.signIn')} onSubmit={login}>
        <FormField name="email" label={t('account.email')} type="email" autoComplete="username" autoFocus />
        <PasswordField />
      </Form>
      <Link to="/forgot">{t('account.forgot')}</Link>
      <p>
        {t('login.new')} <Link to={`/register${search}`}>{t('account.create')}</Link>.
      </p>
    </FormPage>
  );
}
