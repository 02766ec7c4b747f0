import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.js';
import type { FormFields, FormFile } from './products.js';

const BOUNDARY = 'BoundaryOfTheUploads';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const CHUNK_BYTES = 256 * 1024;

/** Builds a form as a list of pieces, so that many requests can send the same bytes. Line breaks in names become spaces. */
export function buildFormPieces(fields: FormFields, files: readonly (Buffer | FormFile)[]) {
  const head = (disposition: string, type = ''): Buffer =>
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition.replaceAll(/[\r\n]/g, ' ')}\r\n${type}\r\n`,
    );
  const texts = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [head(`name="${name}"`), Buffer.from(`${value}\r\n`)]),
  );
  const images = files.flatMap((file, index) => {
    const part: FormFile = Buffer.isBuffer(file) ? { bytes: file, name: `${index}.png` } : file;
    const disposition = `name="${part.field ?? 'images'}"; filename="${part.name}"`;
    return [head(disposition, 'Content-Type: image/png\r\n'), part.bytes, Buffer.from('\r\n')];
  });
  return [...texts, ...images, Buffer.from(`--${BOUNDARY}--\r\n`)];
}

export interface UploadOptions {
  /** Milliseconds of silence after each piece. */
  readonly pauseMs?: number;
  /** By default, the client sends everything. */
  readonly disconnectAfterBytes?: number;
}

/**
 * Sends a form to POST /api/products piece by piece with backpressure.
 * @returns the status; null if either side closes the connection early
 */
export async function upload(
  admin: Client,
  pieces: readonly Buffer[],
  { pauseMs = 0, disconnectAfterBytes = Infinity }: UploadOptions = {},
): Promise<number | null> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const cookie = `accessToken=${admin.cookie('accessToken')}`;
  const headers = { Cookie: cookie, 'Content-Type': FORM_TYPE, 'Content-Length': length };
  const outgoing = request(`${admin.url}/api/products`, { method: 'POST', headers, agent: false });
  const status = new Promise<number | null>((resolve) => {
    const giveUp = (): void => {
      resolve(null);
    };
    outgoing.once('response', (response: IncomingMessage) => {
      buffer(response).then(() => {
        resolve(response.statusCode ?? null);
      }, giveUp);
    });
    outgoing.on('error', giveUp);
  });
  let sentBytes = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length && !outgoing.destroyed; at += CHUNK_BYTES) {
      const chunk = piece.subarray(at, at + CHUNK_BYTES);
      sentBytes += chunk.length;
      if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain'), status]);
      if (sentBytes >= disconnectAfterBytes) outgoing.destroy();
    }
    await delay(pauseMs);
  }
  if (!outgoing.destroyed) outgoing.end();
  return status;
}
