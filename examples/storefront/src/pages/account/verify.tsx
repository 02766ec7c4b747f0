import { dataOf } from 'bakery-client';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Button } from '../../components/button';
import { CodeField, Form } from '../../components/form';
import { FormPage } from '../../components/page';
import { useNextPath } from '../../routing/guards';
import { storePerson, usePerson } from '../../state/session';
import { toast } from '../../state/toast';

export default function VerifyPage() {
  const { email } = usePerson();
  const navigate = useNavigate();
  const next = useNextPath();
  const verify = async ({ otp }: Schemas['VerifyOtpDto']) => {
    const { user } = await dataOf(api.POST('/api/otp/verify', { body: { otp: otp.trim() } }));
    storePerson({ ...user, emailVerified: true });
    toast('Your e-mail address is verified.');
    await navigate(next, { replace: true });
  };
  const sendCode = () =>
    dataOf(api.POST('/api/otp')).then(
      () =>
        toast('A new code is sent at most once a minute. If you asked just now, use the code that you have.'),
      () => toast('The code could not be sent. Please try again.'),
    );
  return (
    <FormPage title="Check your mail">
      <p>
        Enter the code that was sent to <strong>{email}</strong>.
      </p>
      <Form submit="Verify" onSubmit={verify}>
        <CodeField />
      </Form>
      <Button className="link" onClick={() => void sendCode()}>
        Send a new code
      </Button>
      <Link to={next}>Do it later</Link>
    </FormPage>
  );
}
