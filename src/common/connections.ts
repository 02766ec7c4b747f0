import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection with more unfinished requests than this is closed. */
const MAX_PIPELINED = 20;
const MAX_CHECK_GAP_MS = 1000;

/** Processes pipelined requests of a connection in turn. Node would process all at once and buffer their responses. */
export function oneAtATime(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, ServerResponse[]>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const unfinished = connections.get(socket) ?? [];
    const previous = unfinished.at(-1);
    connections.set(socket, unfinished);
    unfinished.push(response);
    response.once('close', () => unfinished.shift());
    if (previous === undefined) listener(request, response);
    else if (unfinished.length > MAX_PIPELINED) socket.destroy();
    else
      previous.once('close', () => {
        if (!socket.destroyed) listener(request, response);
      });
  };
}

/**
 * Disconnects clients that leave a response unread. Node's `server.timeout` would also end requests that take long.
 * @param timeouts object from which each new connection reads its timeout in milliseconds
 */
export function disconnectStalledReaders(server: Server, timeouts: { readonly readTimeout: number }): void {
  server.on('connection', (socket: Socket) => {
    const { readTimeout } = timeouts;
    let sentBefore = 0;
    let lastProgressAt = 0;
    const check = () => {
      const sentNow = readSendProgress(socket);
      if (socket.writableLength === 0 || sentNow !== sentBefore) {
        sentBefore = sentNow;
        lastProgressAt = performance.now();
      } else if (performance.now() - lastProgressAt >= readTimeout) {
        socket.destroy();
      }
    };
    const timer = setInterval(check, Math.min(MAX_CHECK_GAP_MS, readTimeout / 10)).unref();
    socket.once('close', () => {
      clearInterval(timer);
    });
  });
}

/** Returns a number that changes whenever the operating system accepts bytes. The number is not their exact count. */
function readSendProgress(
  socket: Socket & { readonly _handle?: { readonly writeQueueSize: number } | null },
): number {
  return socket.bytesWritten - socket.writableLength - (socket._handle?.writeQueueSize ?? 0);
}
