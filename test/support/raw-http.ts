import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Response as received. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes that no HTTP client would send, piece by piece, and reads until the service closes the connection.
 * @returns the responses in order, with bodies by Content-Length
 * @throws Error if the service does not close the connection within the deadline (milliseconds)
 */
export async function sendRaw(
  url: string,
  bytes: string | Buffer | readonly string[],
  deadlineMs = 5000,
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The service may also reset the connection.
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  for (const piece of typeof bytes === 'string' || Buffer.isBuffer(bytes) ? [bytes] : bytes)
    await new Promise((sent) => socket.write(piece, sent));
  const done = new AbortController();
  try {
    await Promise.race([
      closed,
      delay(deadlineMs, undefined, { signal: done.signal }).then(() => {
        throw new Error(`the service did not hang up within ${deadlineMs} ms`);
      }),
    ]);
  } finally {
    done.abort();
    socket.destroy();
  }
  return answersIn(Buffer.concat(chunks));
}

function answersIn(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) throw new Error(`not an HTTP answer: ${rest.toString('latin1')}`);
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
    answers.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: rest.subarray(end + 4, bodyEnd).toString('utf8'),
    });
    rest = rest.subarray(bodyEnd);
  }
  return answers;
}
