import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Form, FormField } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { t } from '../../i18n';
import { saveLanguageOfVisitor } from '../../state/language';
import { storeUser } from '../../state/session';
import { CurrentPasswordField } from './fields';

export default function LoginPage() {
  const { search } = useLocation();
  const login = async (body: Schemas['LoginDto']) => {
    const { user } = await dataOf(api.POST('/api/login', { body }));
    // The route's guard, `RequireVisitor`, redirects as soon as the user is stored.
    storeUser(user);
    void saveLanguageOfVisitor();
  };
  return (
    <FormPage title={t('login.title')}>
      <Form submitLabel={t('account.signIn')} onSubmit={login}>
        <FormField name="email" label={t('account.email')} type="email" autoComplete="username" autoFocus />
        <CurrentPasswordField />
      </Form>
      <Link to={`/forgot${search}`}>{t('account.forgot')}</Link>
      <p>
        {t('login.new')} <Link to={`/register${search}`}>{t('account.create')}</Link>.
      </p>
    </FormPage>
  );
}
