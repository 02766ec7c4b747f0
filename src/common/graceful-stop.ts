import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { RunningRequests } from './running-requests.js';

/** Milliseconds that requests have to finish once the service was told to stop. */
const DRAIN_DEADLINE_MS = 8000;
/** The same for requests whose connection the stop has cut. */
const CUT_DEADLINE_MS = 500;
const CHECK_INTERVAL_MS = 25;
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

/**
 * Stops accepting, lets what runs finish, then ends the queue and the pool, in this order.
 * @throws what a part of the service throws when it is closed
 */
export async function stopGracefully(app: NestExpressApplication): Promise<void> {
  await drain(app.getHttpServer(), app.get(RunningRequests));
  await app.close();
}

async function drain(server: Server, requests: RunningRequests): Promise<void> {
  if (!server.listening) return;
  const closed = new AbortController();
  server.close(() => {
    closed.abort();
  });
  const began = Date.now();
  const elapsed = (): number => Date.now() - began;
  while (!(closed.signal.aborted && requests.count === 0) && elapsed() < DRAIN_DEADLINE_MS) {
    // A connection that was busy when the server closed stays open once it is idle.
    server.closeIdleConnections();
    if (elapsed() > SILENCE_MS) closeSilentConnections(server);
    await delay(CHECK_INTERVAL_MS);
  }
  server.closeAllConnections();
  // A request that was cut in the middle still gives back what it had taken.
  while (requests.count > 0 && elapsed() < DRAIN_DEADLINE_MS + CUT_DEADLINE_MS)
    await delay(CHECK_INTERVAL_MS);
}

/** Browsers open connections in advance; Node does not count one as idle before its first request. */
function closeSilentConnections(server: Server): void {
  for (const socket of connections.get(server) ?? []) {
    if (socket.bytesRead === 0) socket.destroy();
  }
}
