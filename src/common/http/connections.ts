import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection with more unfinished requests than this is closed. */
const MAX_PIPELINED = 20;
/** Measurements in the window of a `MinimumReadRate`. */
const MEASUREMENTS = 12;

/**
 * Rate at which a client must read, averaged over a window. A steady reader seems to pause while the operating system's buffers
 * empty, so the window must be longer than such a pause.
 */
export interface MinimumReadRate {
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/** Processes pipelined requests of a connection in turn. Node would process all at once and buffer their responses. */
export function serializePipelinedRequests(listener: RequestListener): RequestListener {
  const unfinishedResponses = new WeakMap<Socket, Set<ServerResponse>>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const unfinished = unfinishedResponses.get(socket) ?? new Set<ServerResponse>();
    const previous = [...unfinished].at(-1);
    unfinishedResponses.set(socket, unfinished);
    unfinished.add(response);
    response.once('close', () => unfinished.delete(response));
    if (previous === undefined) listener(request, response);
    else if (unfinished.size > MAX_PIPELINED) socket.destroy();
    else
      previous.once('close', () => {
        if (!socket.destroyed) listener(request, response);
      });
  };
}

/** Disconnects clients that read their responses too slowly. Node's `server.timeout` would also end requests that take long. */
export function disconnectSlowReaders(server: Server, { bytesPerSecond, windowMs }: MinimumReadRate): void {
  const minimumBytes = (bytesPerSecond * windowMs) / 1000;
  server.on('connection', (socket: Socket) => {
    /** Bytes that had been sent at each measurement of the window, oldest first. Empty while nothing waits to be sent. */
    let sent: number[] = [];
    const timer = setInterval(() => {
      const sentNow = countSentBytes(socket);
      sent = socket.writableLength === 0 ? [] : [...sent, sentNow].slice(-MEASUREMENTS - 1);
      const [sentBefore = 0] = sent;
      if (sent.length > MEASUREMENTS && sentNow - sentBefore < minimumBytes) socket.destroy();
    }, windowMs / MEASUREMENTS).unref();
    socket.once('close', () => {
      clearInterval(timer);
    });
  });
}

interface StreamHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Counts the bytes that the operating system has accepted. Node's `socket.bytesWritten` includes bytes that still wait. */
function countSentBytes(socket: Socket & { readonly _handle?: StreamHandle | null }): number {
  const { bytesWritten = 0, writeQueueSize = 0 } = socket._handle ?? {};
  return bytesWritten - writeQueueSize;
}
