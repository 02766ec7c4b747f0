import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { createServer, type RequestListener } from 'node:http';
import { failures } from './errors.js';
import { unparsableRequests } from './metrics.js';
import { limitPipelining } from './pipelining.js';
import { measureRequest } from './request-metrics.js';
import { answerUnparsableRequests } from './unparsable-requests.js';

const SECOND = 1000;
const KIB = 1024;

/** Most header lines of a request. Browsers send 20 or so. */
const MAX_HEADERS = 100;

/** What bounds a request in time and size before anything of this service sees it. */
const SERVER_OPTIONS = {
  /** A caller has so long to send all headers, and so long to send everything. */
  headersTimeout: 10 * SECOND,
  requestTimeout: 60 * SECOND,
  /** How often the two are looked at; Node's 30 s would make them 40 s and 90 s. */
  connectionsCheckingInterval: SECOND,
  /** Longest silence between two requests of a connection. */
  keepAliveTimeout: 5 * SECOND,
  /** Request line and headers together: 431 above. */
  maxHeaderSize: 16 * KIB,
  // Node would refuse with an empty answer; `requireSaneHeaders` does it instead.
  requireHostHeader: false,
} as const;

/** Express on a Node server that leaves every refusal to this service, so that each one is a fail envelope. */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express = this.getInstance<RequestListener>();
    const server = createServer(SERVER_OPTIONS, (request, response) => {
      measureRequest(request, response);
      express(request, response);
    });
    // Node drops what is above without a word, so that one line more tells that there was more.
    server.maxHeadersCount = MAX_HEADERS + 1;
    // The body is invited where it is read, see `inviteBody`.
    server.on('checkContinue', (request, response) => server.emit('request', request, response));
    // An expectation other than 100-continue may be ignored (RFC 9110 section 10.1.1); Node's 417 has no body.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    limitPipelining(server);
    answerUnparsableRequests(server, (status) => {
      unparsableRequests.inc({ http_response_status_code: status });
    });
    this.httpServer = server;
  }
}

/**
 * Refuses an HTTP/1.1 request without Host, as RFC 9112 section 3.2 demands, and one with more headers than anybody
 * needs.
 */
export function requireSaneHeaders(request: Request, _response: Response, next: NextFunction): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) next(failures.malformedRequest());
  else if (request.rawHeaders.length > 2 * MAX_HEADERS) next(failures.headersTooLarge());
  else next();
}
