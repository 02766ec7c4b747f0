import { type NavigateOptions, useSearchParams } from 'react-router';

/** Returns a query parameter of the page's URL and a function that changes it. A missing parameter is ''. */
export function useUrlParameter(name: string) {
  const [parameters, setParameters] = useSearchParams();
  const setValue = (value: string, options?: NavigateOptions) => {
    setParameters((current) => {
      current.delete(name);
      if (value !== '') current.set(name, value);
      return current;
    }, options);
  };
  return [parameters.get(name) ?? '', setValue] as const;
}

/** Returns the query parameters of the page's URL that have one of these names. */
export function useUrlParameters(names: string[]): Record<string, string> {
  const [parameters] = useSearchParams();
  // `get` returns the first value of a repeated parameter, as in `useUrlParameter`.
  return Object.fromEntries(
    names.filter((name) => parameters.has(name)).map((name) => [name, parameters.get(name) ?? '']),
  );
}
