/** Stops what was started. Jest runs `afterAll` hooks in the order of their definition, but stops must be in reverse order. */
const stops: (() => Promise<void>)[] = [];

/** Starts something before the tests of a file, or of a `describe`, and stops it afterwards. */
export function startBeforeTests<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<void> = () => Promise.resolve(),
): T {
  let started: T | undefined;
  beforeAll(async () => {
    const now = await start();
    started = now;
    stops.push(() => stop(now));
  });
  afterAll(() => stops.pop()?.());
  return new Proxy({} as T, {
    get: (_target, name) => {
      if (started === undefined) throw new Error('used before the first test started it');
      const value: unknown = Reflect.get(started, name);
      // Private fields are not accessible through a proxy.
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}
