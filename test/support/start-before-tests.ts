type Stop = () => Promise<unknown>;
/** Functions that stop what was started. They run in reverse order, unlike `afterAll` and `afterEach` of Jest. */
const stops: Record<'tests' | 'each test', Stop[]> = { tests: [], 'each test': [] };

/** Starts something before the tests of a file, or of a `describe`, and stops it afterwards. @returns a proxy for it */
export function startBeforeTests<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  return startIn(stops.tests, beforeAll, afterAll, start, stop);
}

/** Like `startBeforeTests`, but starts something new before each test and stops it after the test. */
export function startBeforeEach<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown> = () => Promise.resolve(),
): T {
  return startIn(stops['each test'], beforeEach, afterEach, start, stop);
}

function startIn<T extends object>(
  ownStops: Stop[],
  before: (hook: () => Promise<void>) => void,
  after: (hook: () => Promise<unknown> | undefined) => void,
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown>,
): T {
  let started: T | undefined;
  before(async () => {
    const resource = await start();
    started = resource;
    ownStops.push(() => stop(resource));
  });
  after(() => ownStops.pop()?.());
  return new Proxy({} as T, {
    get: (_target, name) => {
      if (started === undefined) throw new Error('not started yet: use this object in hooks and tests only');
      const value: unknown = Reflect.get(started, name);
      // Private fields are not accessible through a proxy.
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
    set: (_target, name, value) => started !== undefined && Reflect.set(started, name, value),
  });
}
