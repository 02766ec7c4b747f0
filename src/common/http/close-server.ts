import { once } from 'node:events';
import type { Server } from 'node:http';

const DRAIN_MS = 8000;
const IDLE_CHECK_MS = 50;

/** Stops accepting connections and waits for running requests. Closes all remaining connections after 8 seconds. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // `close` ends only connections that are idle now. A busy connection stays open after its response.
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
