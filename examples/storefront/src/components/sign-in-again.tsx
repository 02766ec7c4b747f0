import { useMutation } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { useId, useLayoutEffect, useRef } from 'react';
import { Link } from 'react-router';
import { api, type Schemas } from '../api/client';
import { explain } from '../api/errors';
import { t } from '../i18n';
import { useSignInPath } from '../routing/guards';
import { saveLanguageOfVisitor } from '../state/language';
import { forgetUser, storeUser, usePageUser } from '../state/session';
import { Button } from './button';
import { TextField } from './field';
import { Alert } from './notice';

/** Dialog over a page whose session has ended. The page stays if the same account signs in. */
export default function SignInAgain() {
  const { email } = usePageUser();
  const forgotPath = useSignInPath('forgot');
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element) openDialog(element);
    // Returns the focus to the page.
    return () => element?.close();
  }, []);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: Schemas['LoginDto']) => dataOf(api.POST('/api/login', { body })),
    // `RequireUser` removes the dialog as soon as the user is stored. For another user, `App` replaces the page too.
    onSuccess: ({ user }) => {
      storeUser(user);
      void saveLanguageOfVisitor();
    },
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      aria-describedby={`${id}-text`}
      // Escape and the back gesture of a phone close every dialog. The page behind this one cannot be used without a session.
      onClose={({ currentTarget }) => currentTarget.isConnected && openDialog(currentTarget)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate(Object.fromEntries(new FormData(event.currentTarget)) as Schemas['LoginDto']);
        }}
      >
        <h2 id={id}>{t('again.title')}</h2>
        <p id={`${id}-text`}>{t('again.text')}</p>
        {/* The email may have been changed on another device. */}
        <TextField
          label={t('account.email')}
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
        />
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
          <Link to={forgotPath} state={{ email }} data-leaves-page onClick={forgetUser}>
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

/** Opens the dialog with the focus in the field that is still empty. */
function openDialog(dialog: HTMLDialogElement) {
  dialog.showModal();
  dialog.querySelector<HTMLInputElement>('[name=password]')?.focus();
}
