import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { DEADLINE_MS } from './wait.js';

interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Opens a connection to a service. An error of the connection, such as a reset, does not end the process. */
export function openSocket(url: string, options: Partial<TcpNetConnectOpts> = {}): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  socket.on('error', () => undefined);
  return socket;
}

/**
 * Sends bytes that no HTTP client would send, piece by piece, and reads until the service closes the connection.
 * @returns the responses in order, with bodies as long as their Content-Length
 * @throws AbortError if the service does not close the connection; Error if it resets the connection
 */
export async function sendRaw(url: string, bytes: string | readonly string[]) {
  const socket = openSocket(url, { noDelay: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) });
  const write = async (): Promise<void> => {
    for (const piece of typeof bytes === 'string' ? [bytes] : bytes)
      await new Promise((sent) => socket.write(piece, sent));
  };
  try {
    await Promise.all([closed, write()]);
  } finally {
    socket.destroy();
  }
  return parseResponses(Buffer.concat(chunks));
}

function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) throw new Error(`not an HTTP response: ${rest.toString('latin1')}`);
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
    responses.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: rest.subarray(end + 4, bodyEnd).toString('utf8'),
    });
    rest = rest.subarray(bodyEnd);
  }
  return responses;
}
