import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { failures } from '../errors/failures.js';

/**
 * Returns the ETag of a resource. The ETag is weak, because a proxy that compresses the response weakens strong ETags.
 * @param version JSON value that differs between any two versions of the resource
 */
export function toEtag(version: unknown): string {
  return `W/"${createHash('sha256').update(JSON.stringify(version)).digest('base64url')}"`;
}

/** Prevents a 304. Without this header of the request, Express sends a 304 only for a response with Last-Modified. */
export function preventNotModified(response: Response): void {
  delete response.req.headers['if-none-match'];
}

/**
 * Checks the header If-Match of a change. Call this inside the transaction, after the row is locked. Compares weak and strong
 * ETags alike. Without the header, every version matches.
 */
export function assertIfMatch(header: string | undefined, currentEtag: string): void {
  const accepted = header?.split(',').map((etag) => etag.trim().replace(/^"/, 'W/"'));
  if (accepted === undefined || accepted.includes('*') || accepted.includes(currentEtag)) return;
  throw failures.changedMeanwhile();
}
