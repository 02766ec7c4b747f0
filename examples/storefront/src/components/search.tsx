import { useSearchParams } from 'react-router';
import { Button } from './button';
import { Icon } from './icon';
import { Notice } from './page';

/** What is searched for: `?q=` of the address. */
export function useSearchText() {
  return useSearchParams()[0].get('q') ?? '';
}

/** The parameters of the address with one changed, or left out when its value is empty. */
export function withParameter(search: URLSearchParams, name: string, value: string) {
  const others = [...search].filter(([other]) => other !== name);
  return new URLSearchParams(value === '' ? others : [...others, [name, value]]);
}

/** Searches by `?q=` of the address; the other parameters stay. An empty text shows everything again. */
export function SearchForm({ label }: { label: string }) {
  const text = useSearchText();
  const [search, setSearch] = useSearchParams();
  const submit = (fields: FormData) => {
    const wanted = fields.get('q') as string;
    setSearch(withParameter(search, 'q', wanted.trim()));
  };
  return (
    <form role="search" className="search" action={submit}>
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
