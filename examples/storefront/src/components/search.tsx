import { type SyntheticEvent, useEffect, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { Button } from './button';
import { Icon } from './icon';
import { Notice } from './page';

/** What is searched for: `?q=` of the address. */
export function useSearchText() {
  return useSearchParams()[0].get('q') ?? '';
}

/** Searches by `?q=` of the address; the other parameters stay. An empty text shows everything again. */
export function SearchForm({ label }: { label: string }) {
  const text = useSearchText();
  const [, setSearch] = useSearchParams();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // After a step back in the browser's history the field shows what is searched for then.
    if (input.current !== null) input.current.value = text;
  }, [text]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = input.current?.value.trim() ?? '';
    setSearch((search) => withParameter(search, 'q', wanted));
  };
  return (
    <form role="search" className="search" onSubmit={submit}>
      <label htmlFor="search">{label}</label>
      <input ref={input} id="search" type="search" defaultValue={text} maxLength={100} autoComplete="off" />
      <button className="button quiet">
        <Icon name="search" />
        Search
      </button>
    </form>
  );
}

/** The parameters of the address with one changed, or left out when its value is empty. */
export function withParameter(search: URLSearchParams, name: string, value: string) {
  const result = new URLSearchParams(search);
  if (value === '') result.delete(name);
  else result.set(name, value);
  return result;
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
