import { dataOf } from 'bakery-client';
import { api } from '../api.js';
import { h } from '../dom.js';
import { go } from '../router.js';
import { session, signIn } from '../session.js';
import { signOut } from '../sign-out.js';
import { field, form } from '../ui/form.js';
import { toast } from '../ui/messages.js';
import { newPasswords, valuesOf } from './account.js';

export function profilePage(): HTMLElement {
  const person = session.get();
  return h(
    'div',
    { class: 'page narrow' },
    h('header', { class: 'page-head' }, h('h1', {}, 'Your account'), h('p', {}, person?.email)),
    person?.emailVerified === false &&
      h(
        'p',
        { class: 'panel hint-panel' },
        'Your e-mail address is not verified yet. ',
        h('a', { href: '/verify?next=/profile' }, 'Enter the code'),
      ),
    nameSection(),
    emailSection(),
    passwordSection(),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Leave'),
      h('p', {}, 'Signs you out in every tab of this browser.'),
      h('button', { class: 'button quiet', type: 'button', on: { click: () => void signOut() } }, 'Sign out'),
    ),
  );
}

function nameSection(): HTMLElement {
  const fullname = field({
    name: 'fullname',
    label: 'Your name',
    value: session.get()?.fullname ?? '',
    autocomplete: 'name',
    maxlength: 255,
  });
  return section(
    'Name',
    form({
      fields: [fullname],
      submit: 'Save name',
      send: async () => {
        const { user } = await dataOf(api.PATCH('/api/users', { body: { fullname: fullname.input.value } }));
        signIn(user, session.get()?.emailVerified);
        toast('Your name is saved.');
      },
    }),
  );
}

function emailSection(): HTMLElement {
  const email = field({ name: 'email', label: 'New e-mail', type: 'email', autocomplete: 'email' });
  const password = field({
    name: 'password',
    label: 'Your password',
    type: 'password',
    autocomplete: 'current-password',
  });
  return section(
    'E-mail',
    form({
      fields: [email, password],
      submit: 'Change e-mail',
      send: async () => {
        const body = { email: email.input.value, password: password.input.value };
        const { user } = await dataOf(api.PATCH('/api/users', { body }));
        signIn(user, false);
        toast('Your e-mail is changed. We have sent a code there.');
        go('/verify?next=/profile');
      },
    }),
  );
}

function passwordSection(): HTMLElement {
  const current = field({
    name: 'currentPassword',
    label: 'Your password',
    type: 'password',
    autocomplete: 'current-password',
  });
  const passwords = newPasswords();
  return section(
    'Password',
    form({
      fields: [current, ...passwords],
      submit: 'Change password',
      send: async () => {
        const body = { currentPassword: current.input.value, ...valuesOf(passwords) };
        await dataOf(api.PUT('/api/users/password', { body }));
        for (const { input } of [current, ...passwords]) input.value = '';
        toast('Your password is changed. Every other session has ended.');
      },
    }),
  );
}

function section(title: string, content: HTMLElement): HTMLElement {
  return h('section', { class: 'panel' }, h('h2', {}, title), content);
}
