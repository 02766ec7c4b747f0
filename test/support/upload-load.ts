import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export const BOUNDARY = 'BoundaryOfTheUploads';

/** Text fields and files of a form, as pieces that many requests may share. */
export function formPieces(
  fields: Readonly<Record<string, string>>,
  files: readonly Buffer[],
): readonly Buffer[] {
  const texts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const head = (index: number): Buffer =>
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="images"; filename="${index}.png"\r\n` +
        'Content-Type: image/png\r\n\r\n',
    );
  return [
    ...texts,
    ...files.flatMap((file, index) => [head(index), file, Buffer.from('\r\n')]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ];
}

export interface Upload {
  readonly url: string;
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly cookie: string;
  readonly type: string;
  readonly pieces: readonly Buffer[];
  /** Milliseconds of silence between two pieces. */
  readonly pauseMs?: number;
  /** Hang up once so many bytes were given to the connection. */
  readonly abortAfter?: number;
}

const agent = new Agent({ keepAlive: false });

/** Sends a body piece by piece, never more than the connection takes. Null when it hung up or was hung up on. */
export async function upload(what: Upload): Promise<{ status: number; body: unknown } | null> {
  const length = what.pieces.reduce((sum, piece) => sum + piece.length, 0);
  const sent = request(`${what.url}${what.path}`, {
    agent,
    method: what.method,
    headers: { Cookie: what.cookie, 'Content-Type': what.type, 'Content-Length': length },
  });
  const answer = new Promise<{ status: number; body: unknown } | null>((resolve) => {
    sent.once('response', (response: IncomingMessage) => {
      json(response).then(
        (body) => {
          resolve({ status: response.statusCode ?? 0, body });
        },
        () => {
          resolve(null);
        },
      );
    });
    sent.on('error', () => {
      resolve(null);
    });
  });
  let given = 0;
  for (const piece of what.pieces) {
    for (let at = 0; at < piece.length && !sent.destroyed; at += 256 * 1024) {
      const part = piece.subarray(at, at + 256 * 1024);
      given += part.length;
      if (!sent.write(part)) await Promise.race([drained(sent), answer]);
      if (what.abortAfter !== undefined && given >= what.abortAfter) sent.destroy();
    }
    if (what.pauseMs !== undefined) await delay(what.pauseMs);
  }
  if (!sent.destroyed) sent.end();
  return answer;
}

function drained(sent: ReturnType<typeof request>): Promise<void> {
  return new Promise((resolve) => {
    sent.once('drain', resolve);
    sent.once('close', resolve);
  });
}
