import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that are worked on at the same time; browsers send one after the other. */
const MAX_PENDING = 16;

/**
 * Stops reading from a connection while so many of its requests wait for their answers. Node begins each request as
 * soon as it is parsed, so that one connection could otherwise bring any number of them at once.
 */
export function limitPipelining(server: Server, maxPending = MAX_PENDING): void {
  const pending = new WeakMap<Socket, number>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (pending.get(socket) ?? 0) + 1;
    pending.set(socket, count);
    if (count === maxPending) socket.pause();
    response.once('close', () => {
      const left = (pending.get(socket) ?? 1) - 1;
      pending.set(socket, left);
      if (left === maxPending - 1) socket.resume();
    });
  });
}
