import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { FormFields, FormFile } from './products.js';

export const BOUNDARY = 'BoundaryOfTheUploads';

/** Builds the pieces of a form, which many requests may share. Line breaks in names become spaces. */
export function formPieces(fields: FormFields, files: readonly (Buffer | FormFile)[]): readonly Buffer[] {
  const head = (disposition: string, type = ''): Buffer =>
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition.replaceAll(/[\r\n]/g, ' ')}\r\n${type}\r\n`,
    );
  const texts = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value]),
  );
  return [
    ...texts.flatMap(([name = '', value = '']) => [head(`name="${name}"`), Buffer.from(`${value}\r\n`)]),
    ...files.flatMap((file, index) => {
      const {
        bytes,
        name,
        field = 'images',
      } = Buffer.isBuffer(file) ? { bytes: file, name: `${index}.png` } : file;
      const disposition = `name="${field}"; filename="${name}"`;
      return [head(disposition, 'Content-Type: image/png\r\n'), bytes, Buffer.from('\r\n')];
    }),
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
  /** Number of bytes after which the client disconnects. */
  readonly abortAfter?: number;
}

const agent = new Agent({ keepAlive: false });

/** Sends a body piece by piece with backpressure. Returns null if either side closes the connection early. */
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
