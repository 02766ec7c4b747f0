import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './schema.js';
import { type Send, SessionKeeper } from './session-keeper.js';

export { BakeryFailure, dataOf } from './failure.js';
export { asForm } from './form.js';
export type { components, operations, paths } from './schema.js';
export type { Send } from './session-keeper.js';

export interface BakeryClientOptions {
  /** Address of the service, without `/api`: `https://api.bakery.example`. */
  readonly baseUrl: string;
  /**
   * Called when the session has ended: a call was refused and so was the refresh. Once for calls that were refused
   * together. The refused calls still get their own 401.
   */
  readonly onSignedOut?: () => void;
  /** How requests are sent; the platform's `fetch` if not given. For a caller without a browser's cookies. */
  readonly fetch?: Send;
}

/** One method per HTTP method; paths, parameters, bodies and answers are those of the OpenAPI document. */
export interface BakeryClient extends Client<paths> {
  /**
   * Another way of sending, under the same refresh-and-repeat rule, to be given to a call as its `fetch`:
   * `fetch: client.sendingBy(withUploadProgress(show))`.
   */
  sendingBy(send: Send): Send;
}

/**
 * A client of the service that sends cookies and keeps to the interface's rule (section 5, rule 2): a call that is
 * refused for its access token is repeated once after `GET /api/refresh`, with the same body.
 */
export function createBakeryClient(options: BakeryClientOptions): BakeryClient {
  const send = options.fetch ?? ((request) => fetch(request));
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const keeper = new SessionKeeper({ baseUrl, send, onSignedOut: options.onSignedOut ?? (() => undefined) });
  const client = createClient<paths>({
    baseUrl,
    credentials: 'include',
    fetch: (request) => keeper.call(request, send),
  });
  return Object.assign(client, {
    sendingBy: (other: Send) => (request: Request) => keeper.call(request, other),
  });
}
