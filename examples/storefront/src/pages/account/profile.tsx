import { dataOf } from 'bakery-client';
import { Link, useNavigate } from 'react-router';
import { api } from '../../api/client';
import { Field, Form, NewPasswordFields } from '../../components/form';
import { PageHeading } from '../../components/page';
import { usePerson, useSession } from '../../state/session';
import { toast } from '../../state/toast';

const EMPTY_EMAIL = { email: '', password: '' };
const EMPTY_PASSWORD = { currentPassword: '', password: '', passwordConfirmation: '' };

export function ProfilePage() {
  const { fullname, email, emailVerified } = usePerson();
  const { signIn } = useSession();
  const navigate = useNavigate();

  const changeName = async (body: { fullname: string }) => {
    signIn((await dataOf(api.PATCH('/api/users', { body }))).user);
    toast('Your name is saved.');
  };
  const changeEmail = async (body: typeof EMPTY_EMAIL) => {
    signIn((await dataOf(api.PATCH('/api/users', { body }))).user, false);
    toast('Your e-mail is changed. We have sent a code there.');
    await navigate('/verify?next=/profile');
  };
  const changePassword = async (body: typeof EMPTY_PASSWORD) => {
    await dataOf(api.PUT('/api/users/password', { body }));
    toast('Your password is changed. Every other session has ended.');
  };

  return (
    <div className="page narrow">
      <header className="page-head">
        <PageHeading>Your account</PageHeading>
        <p>{email}</p>
      </header>
      {emailVerified === false && (
        <p className="panel hint-panel">
          Your e-mail address is not verified yet. <Link to="/verify?next=/profile">Enter the code</Link>
        </p>
      )}
      <section className="panel">
        <h2>Name</h2>
        <Form defaultValues={{ fullname }} submit="Save name" onSubmit={changeName}>
          <Field name="fullname" label="Your name" autoComplete="name" maxLength={255} />
        </Form>
      </section>
      <section className="panel">
        <h2>E-mail</h2>
        <Form defaultValues={EMPTY_EMAIL} submit="Change e-mail" onSubmit={changeEmail}>
          <Field name="email" label="New e-mail" type="email" autoComplete="email" />
          <Field name="password" label="Password" type="password" autoComplete="current-password" />
        </Form>
      </section>
      <section className="panel">
        <h2>Password</h2>
        <Form
          defaultValues={EMPTY_PASSWORD}
          submit="Change password"
          onSubmit={changePassword}
          resetsAfterwards
        >
          <Field
            name="currentPassword"
            label="Current password"
            type="password"
            autoComplete="current-password"
          />
          <NewPasswordFields label="New password" />
        </Form>
      </section>
    </div>
  );
}
