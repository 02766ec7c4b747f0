import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds that requests have to finish once the service was told to stop. */
const DRAIN_DEADLINE_MS = 8000;
const IDLE_CHECK_MS = 50;

/** Stops accepting, lets what runs finish, then ends the queue and the pool, in this order. */
export async function stopGracefully(app: NestExpressApplication): Promise<void> {
  await drain(app.getHttpServer());
  await app.close();
}

async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const done = new AbortController();
  server.close(() => {
    done.abort();
  });
  const deadline = Date.now() + DRAIN_DEADLINE_MS;
  while (!done.signal.aborted && Date.now() < deadline) {
    // A connection that was busy when the server closed stays open once it is idle.
    server.closeIdleConnections();
    await delay(IDLE_CHECK_MS, undefined, { signal: done.signal }).catch(() => {
      // The server has closed.
    });
  }
  server.closeAllConnections();
}
