import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { createServer, type RequestListener } from 'node:http';
import { failures } from './errors.js';
import { FastLane } from './fast-lane.js';
import { answerUnparsableRequests } from './unparsable-requests.js';

const SECOND = 1000;

/** Express on a Node server that leaves every refusal to this service, so that each one is a fail envelope. */
export class HttpAdapter extends ExpressAdapter {
  readonly fastLane = new FastLane();

  override initHttpServer(): void {
    const express = this.getInstance<RequestListener>();
    const server = createServer(
      {
        headersTimeout: 10 * SECOND,
        requestTimeout: 60 * SECOND,
        // Node would refuse with an empty answer; `requireHost` does it instead.
        requireHostHeader: false,
      },
      (request, response) => {
        if (!this.fastLane.serves(request, response)) express(request, response);
      },
    );
    // An expectation other than 100-continue may be ignored (RFC 9110 section 10.1.1); Node's 417 has no body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    answerUnparsableRequests(server);
    this.httpServer = server;
  }
}

/** Refuses an HTTP/1.1 request without Host, as RFC 9112 section 3.2 demands. */
export function requireHost(request: Request, _response: Response, next: NextFunction): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) next(failures.malformedRequest());
  else next();
}
