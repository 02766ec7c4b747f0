import createClient, { type Client } from 'openapi-fetch';
import { refreshAndRepeat, type Send } from './refresh.js';
import type { paths } from './schema.js';

export { BakeryFailure, dataOf } from './failure.js';
export { asForm } from './form.js';
export type { Send } from './refresh.js';
export type { components, operations, paths } from './schema.js';

export interface BakeryClientOptions {
  /** Address of the service, without `/api`: `https://api.bakery.example`. */
  readonly baseUrl: string;
  /**
   * Called when the session has ended: a call was refused, and the refresh as well. Calls that were refused together
   * cause one call of it. Each refused call still gets its own 401.
   */
  readonly onSignedOut?: () => void;
  /** Sends a request. Default: the platform's `fetch`. */
  readonly fetch?: Send;
}

/** One method per HTTP method. Paths, parameters, bodies and answers are those of the OpenAPI document. */
export type BakeryClient = Client<paths>;

/** A client of the service that sends cookies, and that refreshes the access token and repeats a refused call. */
export function createBakeryClient({ baseUrl, onSignedOut, fetch }: BakeryClientOptions): BakeryClient {
  const url = baseUrl.replace(/\/+$/, '');
  return createClient<paths>({
    baseUrl: url,
    credentials: 'include',
    fetch: refreshAndRepeat({
      refreshUrl: `${url}/api/refresh`,
      send: fetch ?? ((request) => globalThis.fetch(request)),
      onSignedOut: onSignedOut ?? (() => undefined),
    }),
  });
}
