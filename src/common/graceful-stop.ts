import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds that requests have to finish once the service was told to stop. */
const DRAIN_DEADLINE_MS = 8000;
const IDLE_CHECK_MS = 50;
/** A connection that sent nothing for so long brings no request; sooner, one may be on its way. */
const SILENCE_MS = 1000;

const connections = new WeakMap<Server, Set<Socket>>();

/** Remembers a server's connections from now on, for `stopGracefully`. */
export function trackConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

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
  const began = Date.now();
  while (!done.signal.aborted && Date.now() - began < DRAIN_DEADLINE_MS) {
    // A connection that was busy when the server closed stays open once it is idle.
    server.closeIdleConnections();
    if (Date.now() - began > SILENCE_MS) closeSilentConnections(server);
    await delay(IDLE_CHECK_MS, undefined, { signal: done.signal }).catch(() => {
      // The server has closed.
    });
  }
  server.closeAllConnections();
}

/** Browsers open connections in advance; Node does not count one as idle before its first request. */
function closeSilentConnections(server: Server): void {
  for (const socket of connections.get(server) ?? []) {
    if (socket.bytesRead === 0) socket.destroy();
  }
}
