import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';

/**
 * Counts the parts of a multipart form that its parser skips. busboy skips a part whose header it cannot read, for example
 * because of a quote in an unquoted file name, without an event (RFC 7578 section 4.2).
 * @returns function that returns the number of skipped parts so far
 */
export function countSkippedParts(body: Readable, contentType: string, parser: EventEmitter): () => number {
  let skipped = 0;
  for (const event of ['field', 'file']) parser.on(event, () => (skipped -= 1));
  const delimiter = Buffer.from(`\r\n--${new MIMEType(contentType).params.get('boundary')}\r\n`);
  // The first delimiter is at the beginning of the form, without a line break.
  let end = Buffer.from('\r\n');
  body.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([end, chunk]);
    let at = -1;
    while ((at = bytes.indexOf(delimiter, at + 1)) >= 0) skipped += 1;
    // A delimiter may begin in this chunk and end in the next one.
    end = bytes.subarray(Math.max(0, bytes.length - delimiter.length + 1));
  });
  return () => skipped;
}
