import type { IncomingMessage } from 'node:http';

/** Browsers send 20 or so; whether more are too many is not decided here. */
const MOST_HEADERS = 50;
/** One entity tag and nothing else. */
const SINGLE_TAG = /^(?:W\/)?"[^",]*"$/;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH = /^[1-9]\d{0,9}$/;

/** A GET that asks for nothing but the answer. */
export function isPlainGet(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'GET' &&
    isPlain(request) &&
    headers['content-length'] === undefined &&
    headers['if-modified-since'] === undefined &&
    (headers['if-none-match'] === undefined ||
      (headers['cache-control'] === undefined && SINGLE_TAG.test(headers['if-none-match'])))
  );
}

/** A POST of JSON in UTF-8, of a length that it names, from no browser's page. @returns the length in bytes, or null */
export function lengthOfPlainJson(request: IncomingMessage): number | null {
  const { method, headers } = request;
  const isJson =
    method === 'POST' &&
    isPlain(request) &&
    headers.origin === undefined &&
    headers['content-encoding'] === undefined &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    LENGTH.test(headers['content-length'] ?? '');
  return isJson ? Number(headers['content-length']) : null;
}

function isPlain({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  return (
    rawHeaders.length <= 2 * MOST_HEADERS &&
    httpVersion === '1.1' &&
    headers.host !== undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined
  );
}
