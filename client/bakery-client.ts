import createClient, { type Client } from 'openapi-fetch';
import { createRefreshingSend, type Send } from './refresh.js';
import type { paths } from './schema.js';

export { BakeryFailure, dataOf } from './failure.js';
export { asForm } from './form.js';
export type { Send } from './refresh.js';
export type { components, operations, paths } from './schema.js';

export interface BakeryClientOptions {
  /** URL of the service without `/api`: `https://api.bakery.example`. */
  readonly baseUrl: string;
  /** Called once when the session has ended: the service rejected a call and the refresh after it. */
  readonly onSignedOut?: () => void;
  /** Sends a request. Default: the platform's `fetch`. */
  readonly fetch?: Send;
}

/** Client with one method for each HTTP method, typed by the OpenAPI document. */
export type BakeryClient = Client<paths>;

/** Creates a client that sends cookies, refreshes the access token and retries rejected calls. */
export function createBakeryClient({ baseUrl, onSignedOut, fetch }: BakeryClientOptions): BakeryClient {
  const url = baseUrl.replace(/\/+$/, '');
  return createClient<paths>({
    baseUrl: url,
    credentials: 'include',
    fetch: createRefreshingSend({
      refreshUrl: `${url}/api/refresh`,
      send: fetch ?? ((request) => globalThis.fetch(request)),
      onSignedOut: onSignedOut ?? (() => undefined),
    }),
  });
}
