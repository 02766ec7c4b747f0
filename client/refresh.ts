/** Sends a request like `fetch`: the promise is rejected only if there is no response. */
export type Send = (request: Request) => Promise<Response>;

interface RefreshOptions {
  readonly refreshUrl: string;
  readonly send: Send;
  readonly onSignedOut: () => void;
}

/** A refresh fails after this time, because all calls with a rejected access token wait for it. */
const REFRESH_DEADLINE_MS = 15_000;

/**
 * Creates a `Send` that refreshes the access token (contract 5, rule 2). If the service rejects the access token
 * of a call, the call is retried once after `GET /api/refresh`. Concurrent calls share one refresh.
 *
 * After a successful refresh, the caller gets the response of the retry. If the refresh gets 401, `onSignedOut` is called,
 * and the caller gets the first response to the call. If the refresh gets another failure, the caller gets that failure.
 */
export function createRefreshingSend({ refreshUrl, send, onSignedOut }: RefreshOptions): Send {
  let refreshing: Promise<Response> | undefined;

  const refresh = async (): Promise<Response> => {
    const signal = AbortSignal.timeout(REFRESH_DEADLINE_MS);
    const response = await send(new Request(refreshUrl, { credentials: 'include', signal }));
    if (response.status === 401) onSignedOut();
    return response;
  };

  return async (request) => {
    if (request.url === refreshUrl) return send(request);
    // Sending a request consumes its body.
    const retry = request.clone();
    const response = await send(request);
    if (!(await isTokenRejected(response))) return response;
    refreshing ??= refresh().finally(() => (refreshing = undefined));
    const refreshed = await refreshing;
    if (refreshed.ok) return send(retry);
    // Several calls can get the response of the shared refresh, but a body can be read only once.
    return refreshed.status === 401 ? response : refreshed.clone();
  };
}

/** Returns true for every 401 (access token missing or expired) and for the 400 of a malformed access token. */
async function isTokenRejected(response: Response): Promise<boolean> {
  if (response.status !== 400) return response.status === 401;
  return (await response.clone().text()).includes('invalid or malformed access token');
}
