import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { failures } from '../common/errors.js';

/** Timeouts of forms. A provider, so that tests can shorten them. */
@Injectable()
export class FormTimeouts {
  /** Idle timeout of a client that is sending a form. The server's `requestTimeout` limits slow clients. */
  idleMs = 15_000;

  /**
   * Reads a form until its end, an idle timeout or a disconnect of the client.
   * @throws Failure 408 after the idle timeout, which also closes the connection; 400 after a disconnect
   */
  async readWhileSent<T>(request: Request, response: Response, read: () => T | Promise<T>): Promise<T> {
    // Multer would wait forever for a form whose client disconnected before the reading started.
    if (response.closed) throw failures.malformedRequest();
    const stopped = new Promise<never>((_, reject) => {
      response.once('close', () => {
        reject(failures.malformedRequest());
      });
      request.setTimeout(this.idleMs, () => {
        // Multer would continue to buffer bytes although their place in the queue belongs to another form.
        request.unpipe();
        // The server would parse the rest of the form as the next request.
        response.set('Connection', 'close');
        reject(failures.requestTimeout());
      });
    });
    try {
      return await Promise.race([read(), stopped]);
    } finally {
      request.setTimeout(0);
    }
  }
}
