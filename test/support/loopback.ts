import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Listens on 127.0.0.1.
 * @param port 0 for any free port. An outgoing connection of another test may briefly use a port that was released
 *   shortly before, so this function retries for 5 s.
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
      if (port === 0 || !isInUse(error) || Date.now() > giveUpAt) throw error;
      await delay(20);
    }
  }
}

/** Returns the open connections of a server. The set changes with them. */
export function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Stops listening and closes every connection, so that the next connection attempt is refused. */
export async function stopListening(server: Server, sockets: Set<Socket>): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

function isInUse(error: unknown): boolean {
  // Not `instanceof Error`: Jest's global Error is not the one of Node's own modules.
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE';
}

/** Returns true if connections to a port are accepted. */
export async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1_000 });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
