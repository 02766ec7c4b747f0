import { useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { useId, useLayoutEffect, useRef } from 'react';
import { Link } from 'react-router';
import { api } from '../api/client';
import { explain } from '../api/errors';
import { t } from '../i18n';
import { useSignInPath } from '../routing/guards';
import { saveLanguageOfVisitor } from '../state/language';
import { forgetUser, storeUser, usePageUser } from '../state/session';
import { Button } from './button';
import { TextField } from './field';
import { Alert } from './notice';

/** Dialog over a page whose session has ended. Asks for the password of the same account. */
export default function SignInAgain() {
  const { email } = usePageUser();
  const forgotPath = useSignInPath('forgot');
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Returns the focus to the page.
    return () => element?.close();
  }, []);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (password: string) => dataOf(api.POST('/api/login', { body: { email, password } })),
    // `RequireUser` removes the dialog as soon as the user is stored.
    onSuccess: ({ user }) => {
      storeUser(user);
      void saveLanguageOfVisitor();
    },
  });
  const signIn = (form: HTMLFormElement) => {
    if (!isPending) mutate(new FormData(form).get('password') as string);
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      aria-describedby={`${id}-text`}
      // Escape and the back gesture of a phone close every dialog. The page behind this one cannot be used without a session.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          signIn(event.currentTarget);
        }}
      >
        <h2 id={id}>{t('again.title')}</h2>
        <p id={`${id}-text`}>{t('again.text', { email })}</p>
        {/* For password managers. */}
        <input hidden readOnly name="email" autoComplete="username" value={email} />
        <TextField
          label={t('account.password')}
          name="password"
          type="password"
          autoComplete="current-password"
        />
        <Alert>{error && explain(error)}</Alert>
        <div className="actions">
          <Button type="submit" isBusy={isPending}>
            {t('account.signIn')}
          </Button>
          <Link to={forgotPath} state={{ email }} onClick={forgetUser}>
            {t('account.forgot')}
          </Link>
          <Button className="link" data-leaves-page onClick={forgetUser}>
            {t('again.other')}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
