import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';

/**
 * Counts the parts of a multipart form that busboy skips. If busboy cannot parse the header of a part, for example because a
 * file name contains an unescaped quote, busboy emits no event for that part (RFC 7578 section 4.2 describes the header).
 * @returns function that returns the number of skipped parts, after the whole form has been parsed
 */
export function watchParts(body: Readable, contentType: string, parser: EventEmitter): () => number {
  let skipped = -1; // The closing delimiter begins no part.
  for (const event of ['field', 'file']) parser.on(event, () => (skipped -= 1));
  const delimiter = Buffer.from(`\r\n--${new MIMEType(contentType).params.get('boundary')}`);
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
