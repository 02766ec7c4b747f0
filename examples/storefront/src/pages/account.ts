import { dataOf } from 'bakery-client';
import { api } from '../api.js';
import { type Child, h } from '../dom.js';
import { go, nextPath, type Visit } from '../router.js';
import { session, signIn } from '../session.js';
import { field, form } from '../ui/form.js';
import { toast } from '../ui/messages.js';

export function loginPage({ query }: Visit): HTMLElement {
  const email = field({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    autocomplete: 'username',
    autofocus: true,
  });
  const password = field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
  });
  return gate(
    'Welcome back',
    form({
      fields: [email, password],
      submit: 'Sign in',
      send: async () => {
        const body = { email: email.input.value, password: password.input.value };
        const { user } = await dataOf(api.POST('/api/login', { body }));
        goOn(nextPath(query));
        signIn(user);
      },
    }),
    h('p', {}, h('a', { href: '/forgot' }, 'Forgot your password?')),
    h('p', {}, 'New here? ', h('a', { href: `/register${location.search}` }, 'Create an account'), '.'),
  );
}

export function registerPage({ query }: Visit): HTMLElement {
  const fullname = field({
    name: 'fullname',
    label: 'Your name',
    autocomplete: 'name',
    maxlength: 255,
    autofocus: true,
  });
  const email = field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' });
  const passwords = newPasswords();
  return gate(
    'Create an account',
    form({
      fields: [fullname, email, ...passwords],
      submit: 'Create account',
      send: async () => {
        const body = { fullname: fullname.input.value, email: email.input.value, ...valuesOf(passwords) };
        const { user } = await dataOf(api.POST('/api/register', { body }));
        goOn(`/verify?next=${encodeURIComponent(nextPath(query))}`);
        signIn(user, false);
      },
    }),
    h('p', {}, 'Been here before? ', h('a', { href: `/login${location.search}` }, 'Sign in'), '.'),
  );
}

export function verifyPage({ query }: Visit): HTMLElement {
  const otp = field({
    name: 'otp',
    label: 'Code',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 16,
    hint: 'Six digits, good for 10 minutes.',
    autofocus: true,
  });
  const again = (): void => {
    dataOf(api.POST('/api/otp')).then(
      () => {
        toast('If a minute has passed since the last one, a new code is on its way.');
      },
      () => {
        toast('The code could not be sent. Please try again.');
      },
    );
  };
  return gate(
    'Check your mail',
    h('p', {}, 'We have sent a code to ', h('strong', {}, session.get()?.email), '.'),
    form({
      fields: [otp],
      submit: 'Verify',
      send: async () => {
        const { user } = await dataOf(api.POST('/api/otp/verify', { body: { otp: otp.input.value.trim() } }));
        signIn(user, true);
        toast('Your e-mail address is verified.');
        go(nextPath(query), 'replace');
      },
    }),
    h('p', {}, h('button', { class: 'link', type: 'button', on: { click: again } }, 'Send a new code')),
    h('p', {}, h('a', { href: nextPath(query) }, 'Do it later')),
  );
}

export function forgotPage(): HTMLElement {
  const email = field({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    autocomplete: 'username',
    autofocus: true,
  });
  const place = gate(
    'Forgot your password?',
    h('p', {}, 'We send you a code with which you choose a new one.'),
    form({
      fields: [email],
      submit: 'Send the code',
      send: async () => {
        const body = { email: email.input.value };
        await dataOf(api.POST('/api/password/forgot', { body }));
        const next = resetStep(body.email);
        place.replaceWith(next);
        next.querySelector('input')?.focus();
      },
    }),
    h('p', {}, h('a', { href: '/login' }, 'Back to signing in')),
  );
  return place;
}

function resetStep(address: string): HTMLElement {
  const otp = field({
    name: 'otp',
    label: 'Code',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 16,
  });
  const passwords = newPasswords();
  return gate(
    'Choose a new password',
    h('p', {}, 'If ', h('strong', {}, address), ' has an account, a code is on its way there.'),
    form({
      fields: [otp, ...passwords],
      submit: 'Set the password',
      send: async () => {
        const body = { email: address, otp: otp.input.value.trim(), ...valuesOf(passwords) };
        await dataOf(api.POST('/api/password/reset', { body }));
        toast('Your new password is set. Please sign in with it.');
        go('/login', 'replace');
      },
    }),
  );
}

export function newPasswords() {
  return [
    field({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' }),
    field({
      name: 'passwordConfirmation',
      label: 'The same again',
      type: 'password',
      autocomplete: 'new-password',
    }),
  ] as const;
}

export function valuesOf([password, confirmation]: ReturnType<typeof newPasswords>) {
  return { password: password.input.value, passwordConfirmation: confirmation.input.value };
}

/** Where to be when the session begins: its beginning draws the page anew. */
function goOn(path: string): void {
  history.replaceState(null, '', path);
}

function gate(title: string, ...children: readonly Child[]): HTMLElement {
  return h('div', { class: 'page gate' }, h('section', { class: 'panel' }, h('h1', {}, title), children));
}
