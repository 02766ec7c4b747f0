import { once } from 'node:events';
import type { Server } from 'node:http';

/** Milliseconds that running requests have to finish. */
const DRAIN_MS = 8000;
const IDLE_CHECK_MS = 50;

/** Stops accepting requests and waits for the running ones, 8 seconds at most; then their connections are cut. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // Node closes only connections that are idle now. One that is busy stays open after its answer.
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}
