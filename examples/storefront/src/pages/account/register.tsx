import { dataOf } from 'bakery-client';
import { Link, useLocation } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Form, FormField } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { getLanguage, t } from '../../i18n';
import { saveLanguageOfVisitor } from '../../state/language';
import { storeUser } from '../../state/session';
import { NewPasswordFields } from './fields';

export default function RegisterPage() {
  const { search } = useLocation();
  const register = async (body: Schemas['RegisterDto']) => {
    // Mails are sent in the language of the account, which the service reads from this header.
    const headers = { 'Accept-Language': getLanguage() };
    const { user } = await dataOf(api.POST('/api/register', { body, headers }));
    // The route's guard, `RequireVisitor`, redirects as soon as the user is stored.
    storeUser({ ...user, emailVerified: false });
    void saveLanguageOfVisitor();
  };
  return (
    <FormPage title={t('account.create')}>
      <Form submitLabel={t('register.submit')} onSubmit={register}>
        <FormField name="fullname" label={t('account.name')} autoComplete="name" autoFocus />
        <FormField name="email" label={t('account.email')} type="email" autoComplete="username" />
        <NewPasswordFields label={t('account.password')} />
      </Form>
      <p>
        {t('register.known')} <Link to={`/login${search}`}>{t('account.signIn')}</Link>.
      </p>
    </FormPage>
  );
}
