import { BakeryFailure, dataOf } from 'bakery-client';
import { Link, useNavigate } from 'react-router';
import { api, type Schemas } from '../../api/client';
import { Field, Form, NewPasswordFields, PasswordField } from '../../components/form';
import { PageHeading } from '../../components/page';
import { storePerson, usePerson } from '../../state/session';
import { toast } from '../../state/toast';

export default function ProfilePage() {
  const { fullname, email, emailVerified } = usePerson();
  const navigate = useNavigate();

  const changeName = async (body: Schemas['UpdateProfileDto']) => {
    storePerson((await dataOf(api.PATCH('/api/users', { body }))).user);
    toast('Your name is saved.');
  };
  const changeEmail = async (body: Schemas['UpdateProfileDto']) => {
    const { user } = await showWrongPasswordAt('password', dataOf(api.PATCH('/api/users', { body })));
    storePerson({ ...user, emailVerified: false });
    toast('Your e-mail is changed. We are sending a code to the new address.');
    await navigate('/verify?next=/profile');
  };
  const changePassword = async (body: Schemas['ChangePasswordDto'], reset: () => void) => {
    await showWrongPasswordAt('currentPassword', dataOf(api.PUT('/api/users/password', { body })));
    reset();
    toast('Your password is changed. All other sessions have ended.');
  };

  return (
    <div className="page narrow">
      <header className="page-head">
        <PageHeading>Your account</PageHeading>
        <p>{email}</p>
      </header>
      {emailVerified === false && (
        <p className="panel">
          Your e-mail address is not verified yet. <Link to="/verify?next=/profile">Enter the code</Link>
        </p>
      )}
      <section className="panel">
        <h2>Name</h2>
        <Form submit="Save name" defaultValues={{ fullname }} onSubmit={changeName}>
          <Field name="fullname" label="Your name" autoComplete="name" maxLength={255} />
        </Form>
      </section>
      <section className="panel">
        <h2>E-mail</h2>
        <Form submit="Change e-mail" onSubmit={changeEmail}>
          <Field name="email" label="New e-mail" type="email" autoComplete="email" />
          <PasswordField />
        </Form>
      </section>
      <section className="panel">
        <h2>Password</h2>
        <Form submit="Change password" onSubmit={changePassword}>
          <PasswordField name="currentPassword" label="Current password" />
          <NewPasswordFields label="New password" />
        </Form>
      </section>
    </div>
  );
}

/** Turns the failure for a wrong password into a message at the field. The response of the service names no field. */
async function showWrongPasswordAt<Result>(field: string, call: Promise<Result>) {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof BakeryFailure) || error.message !== 'email or password is incorrect') throw error;
    throw new BakeryFailure(error.code, error.message, { [field]: 'your current password is incorrect' });
  }
}
