import { useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Button } from '../../components/button';
import { Form } from '../../components/form';
import { FormPage } from '../../components/form-page';
import { t } from '../../i18n';
import { useNextPath } from '../../routing/guards';
import { storeUser, usePageUser } from '../../state/session';
import { showToast } from '../../state/toast';
import { CodeField } from './fields';

export default function VerifyPage() {
  const { email } = usePageUser();
  const navigate = useNavigate();
  const next = useNextPath();
  const verify = async ({ otp }: Schemas['VerifyOtpDto']) => {
    const { user } = await dataOf(api.POST('/api/otp/verify', { body: { otp: otp.replaceAll(/\s/g, '') } }));
    storeUser(user);
    showToast(t('verify.done'));
    await navigate(next, { replace: true });
  };
  const { mutate: sendCode, isPending } = useMutation({
    mutationFn: () => dataOf(api.POST('/api/otp')),
    onSuccess: () => showToast(t('verify.sent')),
    onError: () => showToast(t('verify.notSent')),
  });
  return (
    <FormPage title={t('verify.title')}>
      <p>{t('verify.lead', { email })}</p>
      <Form submitLabel={t('verify.submit')} onSubmit={verify}>
        <CodeField />
      </Form>
      <Button className="link" isBusy={isPending} onClick={() => sendCode()}>
        {t('verify.again')}
      </Button>
      <Link to={next}>{t('verify.later')}</Link>
    </FormPage>
  );
}
