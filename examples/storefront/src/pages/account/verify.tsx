import { useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { api } from '../../api/client';
import { Button } from '../../components/button';
import { CodeField, Form } from '../../components/form';
import { FormPage } from '../../components/page';
import { nextPath } from '../../routing/next-path';
import { usePerson, useSession } from '../../state/session';
import { toast } from '../../state/toast';

export function VerifyPage() {
  const { email } = usePerson();
  const { signIn } = useSession();
  const navigate = useNavigate();
  const next = nextPath(useSearchParams()[0]);
  const verify = async ({ otp }: { otp: string }) => {
    const { user } = await dataOf(api.POST('/api/otp/verify', { body: { otp: otp.trim() } }));
    signIn(user, true);
    toast('Your e-mail address is verified.');
    await navigate(next, { replace: true });
  };
  const newCode = useMutation({
    mutationFn: () => dataOf(api.POST('/api/otp')),
    onSuccess: () => toast('If a minute has passed since the last one, a new code is on its way.'),
    onError: () => toast('The code could not be sent. Please try again.'),
  });
  return (
    <FormPage title="Check your mail">
      <p>
        We have sent a code to <strong>{email}</strong>.
      </p>
      <Form defaultValues={{ otp: '' }} submit="Verify" onSubmit={verify}>
        <CodeField />
      </Form>
      <p>
        <Button className="link" onClick={() => newCode.mutate()}>
          Send a new code
        </Button>
      </p>
      <p>
        <Link to={next}>Do it later</Link>
      </p>
    </FormPage>
  );
}
