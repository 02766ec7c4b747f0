import { useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { Button } from './button';
import { Icon } from './icon';
import { Notice } from './page';

/** A parameter of the address as a state: '' when it is not there. */
export function useParameter(name: string) {
  const [search, setSearch] = useSearchParams();
  const change = (value: string) => {
    setSearch((others) => {
      others.delete(name);
      if (value !== '') others.set(name, value);
      return others;
    });
  };
  return [search.get(name) ?? '', change] as const;
}

/** Searches by `?q=` of the address. An empty text shows everything again. */
export function SearchForm({ label }: { label: string }) {
  const [text, search] = useParameter('q');
  const form = useRef<HTMLFormElement>(null);
  // After a step back in the browser's history the field shows what is searched for then.
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
        Search
      </button>
    </form>
  );
}

/** In place of a list in which nothing is like what was searched for. */
export function NothingFound({ text }: { text: string }) {
  const [, setSearch] = useSearchParams();
  const showAll = () => {
    setSearch({});
    // The button goes away.
    document.getElementById('search')?.focus();
  };
  return (
    <Notice icon="search" title="Nothing found" text={text}>
      <Button onClick={showAll}>Show all</Button>
    </Notice>
  );
}
