import { readFile } from 'node:fs/promises';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A connection with more unfinished requests than this is closed. */
const MAX_PIPELINED = 20;
/** Measurements in the window of a `MinimumReadRate`. */
const MEASUREMENTS = 12;

/** Both addresses and the send queue of a connection in a line of /proc/net/tcp, in hexadecimal. */
const SEND_QUEUE = /^ *\d+: (\S+ \S+) \S\S ([\dA-F]{8}):/gm;

/** Rate at which a client must read, averaged over a window. */
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
  /** Connections, each with the bytes that the client had received at each measurement of the window, oldest first. */
  const connections = new Map<Socket, readonly number[]>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, []);
    socket.once('close', () => connections.delete(socket));
  });
  const measure = async () => {
    const isAnyWaiting = [...connections.keys()].some(({ writableLength }) => writableLength > 0);
    const sendQueues = isAnyWaiting ? await readSendQueues() : new Map<string, number>();
    for (const [socket, earlier] of connections) {
      // A client for which nothing waits is not slow.
      if (socket.writableLength === 0) {
        connections.set(socket, []);
        continue;
      }
      const received = countSentBytes(socket) - (sendQueues.get(toAddresses(socket)) ?? 0);
      const window = [...earlier, received].slice(-MEASUREMENTS - 1);
      connections.set(socket, window);
      // Not the first measurement but the lowest one: a measurement is too high if Linux left out the line of the connection.
      if (window.length > MEASUREMENTS && received - Math.min(...window) < minimumBytes) socket.destroy();
    }
  };
  let isMeasuring = false;
  const timer = setInterval(() => {
    if (isMeasuring) return;
    isMeasuring = true;
    void measure().finally(() => (isMeasuring = false));
  }, windowMs / MEASUREMENTS).unref();
  server.once('close', () => {
    clearInterval(timer);
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

/**
 * Reads how many bytes wait in Linux for the client of each connection. Linux accepts up to 4 MiB of a response at once, and more
 * only after a third of them was received, so a slow reader would seem to pause for minutes. Returns the bytes by the addresses of
 * the connection; an empty map on other systems.
 */
async function readSendQueues(): Promise<Map<string, number>> {
  const files = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => ''));
  const lines = (await Promise.all(files)).join('').matchAll(SEND_QUEUE);
  return new Map([...lines].map(([, addresses = '', bytes = '']) => [addresses, parseInt(bytes, 16)]));
}

/** Returns the local and the remote address of a connection as Linux writes them. */
function toAddresses({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${toProcAddress(localAddress, localPort)} ${toProcAddress(remoteAddress, remotePort)}`;
}

/**
 * Writes an address without its zone in little-endian groups of four bytes, with the port. An address is unknown after the
 * connection has ended.
 */
function toProcAddress(address = '::', port = 0): string {
  const bytes = Buffer.from(ipaddr.parse(address.replace(/%.*/, '')).toByteArray())
    .swap32()
    .toString('hex');
  return `${bytes}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
