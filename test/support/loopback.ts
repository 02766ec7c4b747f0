import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Listens on 127.0.0.1.
 * @param port 0 for any free port. Any other port is tried for 5 s, because an outgoing connection of another test may
 *   briefly use a port that was released shortly before.
 * @returns the port
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  const giveUpAt = Date.now() + 5_000;
  for (;;) {
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening'); // Rejects on an 'error' event.
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('not listening on a port');
      return address.port;
    } catch (error) {
      if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || Date.now() > giveUpAt)
        throw error;
      await delay(20);
    }
  }
}

/** Returns a set that always contains the open connections of a server. */
export function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Stops listening, so that new connections are refused, and closes every open connection. */
export async function stopListening(server: Server, sockets: Set<Socket>): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

export async function acceptsConnections(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect'); // Rejects on an 'error' event.
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
