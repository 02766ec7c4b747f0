type Stop = () => Promise<unknown>;
/** Functions that stop what a file has started. They run in reverse order, unlike the `afterAll` hooks of Jest. */
const stops: Stop[] = [];

/** Returns something that all tests of a file use, and stops it after the tests. To be called at the top level of a file. */
export async function stopAfterTests<T>(
  starting: Promise<T>,
  stop: (started: T) => Promise<unknown>,
): Promise<T> {
  const started = await starting;
  stops.push(() => stop(started));
  afterAll(() => stops.pop()?.());
  return started;
}
