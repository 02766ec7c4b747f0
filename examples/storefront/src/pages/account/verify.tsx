import { dataOf } from 'bakery-client';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Button } from '../../components/button';
import { CodeField, Form } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { useNextPath } from '../../routing/guards';
import { storePerson, usePerson } from '../../state/session';
import { toast } from '../../state/toast';
import { t } from '../../i18n';

export default function VerifyPage() {
  const { email } = usePerson();
  const navigate = useNavigate();
  const next = useNextPath();
  const verify = async ({ otp }: Schemas['VerifyOtpDto']) => {
    const { user } = await dataOf(api.POST('/api/otp/verify', { body: { otp: otp.trim() } }));
    storePerson({ ...user, emailVerified: true });
    toast(t('verify.done'));
    await navigate(next, { replace: true });
  };
  const sendCode = () =>
    dataOf(api.POST('/api/otp')).then(
      () => toast(t('verify.sent')),
      () => toast(t('verify.notSent')),
    );
  return (
    <FormPage title={t('verify.title')}>
      <p>{t('verify.lead', { email })}</p>
      <Form submit={t('verify.submit')} onSubmit={verify}>
        <CodeField />
      </Form>
      <Button className="link" onClick={() => void sendCode()}>
        {t('verify.again')}
      </Button>
      <Link to={next}>{t('verify.later')}</Link>
    </FormPage>
  );
}
