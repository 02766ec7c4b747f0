import createClient, { type Client } from 'openapi-fetch';
import { createRefreshingSend, type Send } from './refresh.js';
import type { paths } from './schema.js';

export { BakeryFailure, dataOf } from './failure.js';
export { asForm } from './form.js';
export { sizedImage } from './images.js';
export type { Send } from './refresh.js';
export type { components, operations, paths } from './schema.js';

export interface BakeryClientOptions {
  /** URL of the service without `/api`: `https://api.bakery.example`. */
  readonly baseUrl: string;
  /** Called after each refresh that the service rejects with 401: the session has ended, or nobody has signed in. */
  readonly onSignedOut?: () => void;
  /** Sends a request. Default: the platform's `fetch`. */
  readonly fetch?: Send;
}

/** Client with one method for each HTTP method, typed by the OpenAPI document. */
export type BakeryClient = Client<paths>;

/** Creates a client that sends cookies. It refreshes a rejected access token and then retries the call. */
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
