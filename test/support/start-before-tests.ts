/** Functions that stop what was started. They run in reverse order, unlike the `afterAll` hooks of Jest. */
const stops: (() => Promise<unknown>)[] = [];

/** Starts something before the tests of a file, or of a `describe`, and stops it afterwards. @returns a proxy for it */
export function startBeforeTests<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  let started: T | undefined;
  beforeAll(async () => {
    const resource = await start();
    started = resource;
    stops.push(() => stop(resource));
  });
  afterAll(() => stops.pop()?.());
  return new Proxy({} as T, {
    get: (_target, name) => {
      if (started === undefined) throw new Error('not started yet: use this object in hooks and tests only');
      const value: unknown = Reflect.get(started, name);
      // Private fields are not accessible through a proxy.
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}
