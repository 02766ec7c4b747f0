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

/** Returns the query parameters that have one of these names. Omits all others, because they filter nothing. */
export function useUrlParameters(names: string[]): Record<string, string> {
  const [parameters] = useSearchParams();
  return Object.fromEntries([...parameters].filter(([name]) => names.includes(name)));
}
