import { useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { t } from '../i18n';
import { useUrlParameter } from '../routing/url-parameters';
import { Button } from './button';
import { Icon } from './icon';
import { Notice } from './notice';

/** Search field that is bound to `?q=` of the URL. An empty text shows everything again. */
export function SearchForm({ label }: { label: string }) {
  const [text, setText] = useUrlParameter('q');
  const form = useRef<HTMLFormElement>(null);
  // Show the new text after a navigation in the history: a reset restores `defaultValue`.
  useEffect(() => form.current?.reset(), [text]);
  return (
    <form
      ref={form}
      role="search"
      className="search"
      action={(fields: FormData) => setText((fields.get('q') as string).trim())}
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

/** Notice that nothing matches the search and the filters, with a button that removes them. */
export function NothingFound({ text }: { text: string }) {
  const [, setParameters] = useSearchParams();
  const showAll = () => {
    setParameters({});
    // The button disappears together with the message.
    document.getElementById('search')?.focus();
  };
  return (
    <Notice icon="search" title={t('search.nothing')} text={text}>
      <Button onClick={showAll}>{t('search.showAll')}</Button>
    </Notice>
  );
}
