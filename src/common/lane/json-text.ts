import { Buffer } from 'node:buffer';
import { JSON_BODY_LIMIT } from '../json-body.interceptor.js';
import { isWithinDepth } from '../json-depth.js';
import { isPlainObject } from '../validation.pipe.js';

/** An object of JSON, and its text. */
export interface PlainJson {
  readonly body: object;
  readonly text: string;
}

/** An object that the pipeline would read just so; null for all else, which it knows how to refuse. */
export function parsePlainJson(bytes: Buffer): PlainJson | null {
  if (bytes.length > JSON_BODY_LIMIT) return null;
  const text = bytes.toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The pipeline reads it again and says so.
    return null;
  }
  return isPlainObject(body) && isWithinDepth(body) ? { body, text } : null;
}
