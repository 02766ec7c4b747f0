import { useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { Button } from './button';
import { Icon } from './icon';
import { Notice } from './notice';
import { t } from '../i18n';

/** Returns a query parameter of the page's URL and a function that changes it. A missing parameter is ''. */
export function useUrlParameter(name: string) {
  const [search, setSearch] = useSearchParams();
  const change = (value: string) => {
    setSearch((parameters) => {
      parameters.delete(name);
      if (value !== '') parameters.set(name, value);
      return parameters;
    });
  };
  return [search.get(name) ?? '', change] as const;
}

/** Search field that is bound to `?q=` of the URL. An empty text shows everything again. */
export function SearchForm({ label }: { label: string }) {
  const [text, search] = useUrlParameter('q');
  const form = useRef<HTMLFormElement>(null);
  // Show the new text after a navigation in the history: a reset restores `defaultValue`.
  useEffect(() => form.current?.reset(), [text]);
  return (
    <form
      ref={form}
      role="search"
      className="search"
      action={(fields: FormData) => search((fields.get('q') as string).trim())}
    >
      <label htmlFor="search">{label}</label>
      <input id="search" name="q" type="search" defaultValue={text} maxLength={100} autoComplete="off" />
      <button className="button quiet">
        <Icon name="search" />
        {t('search.button')}
      </button>
    </form>
  );
}

export function NothingFound({ text }: { text: string }) {
  const [, setSearch] = useSearchParams();
  const showAll = () => {
    setSearch({});
    // The button disappears together with the message.
    document.getElementById('search')?.focus();
  };
  return (
    <Notice icon="search" title={t('search.nothing')} text={text}>
      <Button onClick={showAll}>{t('search.showAll')}</Button>
    </Notice>
  );
}
