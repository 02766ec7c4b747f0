import { BakeryFailure, dataOf } from 'bakery-client';
import { useEffect } from 'react';
import { useFormContext } from 'react-hook-form';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { LocalizedError } from '../../api/errors';
import { Form, type FormControl, FormField, SelectField } from '../../components/form';
import { PageHeading } from '../../components/page-heading';
import { type Language, LANGUAGE_NAMES, t, useLanguage } from '../../i18n';
import { chooseLanguage } from '../../state/language';
import { storeUser, usePageUser } from '../../state/session';
import { showToast } from '../../state/toast';
import { NewPasswordFields, CurrentPasswordField } from './fields';

export default function ProfilePage() {
  const { fullname, email, emailVerified } = usePageUser();
  const navigate = useNavigate();

  const changeName = async (body: Schemas['UpdateProfileDto']) => {
    storeUser((await dataOf(api.PATCH('/api/users', { body }))).user);
    showToast(t('profile.nameSaved'));
  };
  const changeLanguage = async ({ language }: { language: Language }) => {
    if (await chooseLanguage(language)) showToast(t('profile.languageSaved'));
  };
  const changeEmail = async (body: Schemas['UpdateProfileDto']) => {
    const { user } = await showWrongPasswordAt('password', dataOf(api.PATCH('/api/users', { body })));
    storeUser({ ...user, emailVerified: false });
    showToast(t('profile.emailChanged'));
    await navigate('/verify?next=/profile');
  };
  const changePassword = async (
    body: Schemas['ChangePasswordDto'],
    { reset }: FormControl<Schemas['ChangePasswordDto']>,
  ) => {
    await showWrongPasswordAt('currentPassword', dataOf(api.PUT('/api/users/password', { body })));
    reset();
    showToast(t('profile.passwordChanged'));
  };

  return (
    <div className="page narrow">
      <header className="page-head">
        <PageHeading>{t('profile.title')}</PageHeading>
        <p>{email}</p>
      </header>
      {emailVerified === false && (
        <p className="panel">
          {t('profile.unverified')} <Link to="/verify?next=/profile">{t('profile.enterCode')}</Link>
        </p>
      )}
      <section className="panel">
        <h2>{t('name')}</h2>
        <Form submitLabel={t('profile.saveName')} defaultValues={{ fullname }} onSubmit={changeName}>
          <FormField name="fullname" label={t('account.name')} autoComplete="name" />
        </Form>
      </section>
      <section className="panel">
        <Form submitLabel={t('profile.saveLanguage')} onSubmit={changeLanguage}>
          <LanguageField />
        </Form>
      </section>
      <section className="panel">
        <h2>{t('account.email')}</h2>
        <Form submitLabel={t('profile.changeEmail')} onSubmit={changeEmail}>
          <FormField name="email" label={t('profile.newEmail')} type="email" autoComplete="email" />
          <CurrentPasswordField />
        </Form>
      </section>
      <section className="panel">
        <h2>{t('account.password')}</h2>
        <Form submitLabel={t('profile.changePassword')} onSubmit={changePassword}>
          <CurrentPasswordField name="currentPassword" label={t('profile.currentPassword')} />
          <NewPasswordFields label={t('account.newPassword')} />
        </Form>
      </section>
    </div>
  );
}

/** Form field for the language. Shows the current language also after the switch in the header has changed it. */
function LanguageField() {
  const { setValue } = useFormContext();
  const language = useLanguage();
  useEffect(() => setValue('language', language), [setValue, language]);
  return (
    <SelectField
      name="language"
      label={t('profile.language')}
      hint={t('profile.languageHint')}
      options={Object.entries(LANGUAGE_NAMES)}
    />
  );
}

/** Shows the failure for a wrong password at a field, because the response names none. */
async function showWrongPasswordAt<Result>(field: string, call: Promise<Result>) {
  try {
    return await call;
  } catch (error) {
    const isPasswordWrong =
      error instanceof BakeryFailure && error.message === 'email or password is incorrect';
    throw isPasswordWrong ? new LocalizedError(() => t('profile.wrongPassword'), field) : error;
  }
}
