import type { Request, Response } from 'express';

/**
 * Asks a caller that waits for it to send the body (`Expect: 100-continue`, RFC 9110 section 10.1.1). Called when the
 * body is about to be read, so that who may not send one is told so before it does.
 */
export function inviteBody(request: Request, response: Response): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
}
