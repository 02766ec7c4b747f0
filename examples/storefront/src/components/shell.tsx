import { onlineManager } from '@tanstack/react-query';
import { dataOf } from 'bakery-client';
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { Link, useNavigate } from 'react-router';
import { api } from '../api/client';
import { explain } from '../api/errors';
import { useShopName } from '../api/shop';
import { LANGUAGE_NAMES, t, useLanguage } from '../i18n';
import { useSignInPath } from '../routing/guards';
import { chooseLanguage } from '../state/language';
import { removeCheckoutDetails } from '../state/checkout-details';
import { forgetUser, useSession } from '../state/session';
import { showToast } from '../state/toast';
import { Button, ButtonLink } from './button';
import { ClosedNote } from './closed-note';
import { Icon } from './icon';
import { MainNav } from './main-nav';
import { ShopContact } from './shop-contact';
import { ToastRegion } from './toast-region';

/** Frame of every page: header with the navigation, notes, footer and messages. */
export function Shell({ children }: { children: ReactNode }) {
  const name = useShopName();
  const description = t('description', { name });
  useEffect(() => {
    document.querySelector('meta[name=description]')?.setAttribute('content', description);
  }, [description]);
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {t('skip')}
      </a>
      <header className="site-header">
        <Link className="brand" to="/">
          <img className="logo" src="/logo.svg" alt="" width={32} height={24} />
          {name}
        </Link>
        <MainNav />
        <LanguageSwitch />
        <AccountButton />
      </header>
      <OfflineNote />
      <ClosedNote />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer className="site-footer">
        <ShopContact />
        <p>{t('footer', { name })}</p>
      </footer>
      <ToastRegion />
    </div>
  );
}

/** Name of the signed-in user with a button to sign out, or a link to the sign-in. */
function AccountButton() {
  const { user } = useSession();
  const navigate = useNavigate();
  const signInPath = useSignInPath();
  const signOut = async () => {
    try {
      await dataOf(api.POST('/api/logout'));
      // Navigate first: without a user, `RequireUser` would redirect to the sign-in.
      void navigate('/', { replace: true });
      forgetUser();
      // A shared computer must not keep the phone number and the note of a person who has left.
      removeCheckoutDetails();
    } catch {
      showToast(t('account.signOutFailed'));
    }
  };
  return (
    <div className="account">
      <span className="who">{user?.fullname}</span>
      {user === null ? (
        <ButtonLink to={signInPath} className="button quiet small">
          {t('account.signIn')}
        </ButtonLink>
      ) : (
        <Button className="link" data-leaves-page onClick={() => void signOut()}>
          {t('account.signOut')}
        </Button>
      )}
    </div>
  );
}

/** Button that changes to the other language. Screen readers read its name in that language. */
function LanguageSwitch() {
  const other = useLanguage() === 'en' ? 'id' : 'en';
  const change = () => chooseLanguage(other).catch((error: unknown) => showToast(explain(error)));
  return (
    <Button className="link language" lang={other} onClick={() => void change()}>
      {other.toUpperCase()}
      <span className="visually-hidden">: {LANGUAGE_NAMES[other]}</span>
    </Button>
  );
}

/** Note while the browser has no connection. */
function OfflineNote() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <div role="status">
      {!isOnline && (
        <p className="banner offline">
          <Icon name="offline" />
          {t('offline')}
        </p>
      )}
    </div>
  );
}
