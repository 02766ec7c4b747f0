type Stop = () => unknown;

const stopsOfFile: Stop[] = [];
const stopsOfTest: Stop[] = [];
let stops = stopsOfFile;

beforeEach(() => {
  stops = stopsOfTest;
});

afterEach(async () => {
  stops = stopsOfFile;
  await stopAll(stopsOfTest);
});

afterAll(() => stopAll(stopsOfFile));

/** Stops the latest first, because it may use an earlier one. Stops the others even if a stop fails. */
async function stopAll(remaining: Stop[]): Promise<void> {
  const stop = remaining.pop();
  if (stop === undefined) return;
  try {
    await stop();
  } finally {
    await stopAll(remaining);
  }
}

/**
 * Stops something after the test that starts it. What starts at the top level of a file or in `beforeAll` is stopped after the
 * tests of the file.
 * @returns what has started
 */
export async function stopAfterUse<T>(starting: T | Promise<T>, stop: (started: T) => unknown): Promise<T> {
  const user = stops;
  const started = await starting;
  user.push(() => stop(started));
  return started;
}

/** Starts a server, which `stopAfterUse` stops. */
export function startServer<T extends { up(): Promise<void>; down(): Promise<void> }>(server: T): Promise<T> {
  return stopAfterUse(
    server.up().then(() => server),
    () => server.down(),
  );
}
