/** Sends a request and resolves to its answer, of any status. Rejects when there is no answer. */
export type Send = (request: Request) => Promise<Response>;

interface RefreshOptions {
  readonly refreshUrl: string;
  readonly send: Send;
  readonly onSignedOut: () => void;
}

/** A refresh that gets no answer must not block all calls for ever. */
const REFRESH_DEADLINE_MS = 15_000;

/**
 * The rule of the service (contract 5, rule 2) as a way of sending: a call that is refused for its access token is
 * repeated once after `GET /api/refresh`, with the same body. Calls that are refused together share one refresh.
 *
 * The answer is that of the repetition; if the refresh is refused (401), that of the call; if the refresh fails in
 * another way, that of the refresh.
 */
export function refreshAndRepeat({ refreshUrl, send, onSignedOut }: RefreshOptions): Send {
  let refreshing: Promise<Response> | undefined;

  const refresh = async (): Promise<Response> => {
    const signal = AbortSignal.timeout(REFRESH_DEADLINE_MS);
    const answer = await send(new Request(refreshUrl, { credentials: 'include', signal }));
    if (answer.status === 401) onSignedOut();
    return answer;
  };

  return async (request) => {
    if (request.url === refreshUrl) return send(request);
    // Sending a request consumes its body.
    const repetition = request.clone();
    const answer = await send(request);
    if (!(await isRefused(answer))) return answer;
    refreshing ??= refresh().finally(() => (refreshing = undefined));
    const refreshed = await refreshing;
    if (refreshed.ok) return send(repetition);
    return refreshed.status === 401 ? answer : refreshed.clone();
  };
}

/** 401 for a missing or expired access token; a malformed one is answered with a 400. */
async function isRefused(answer: Response): Promise<boolean> {
  if (answer.status !== 400) return answer.status === 401;
  return (await answer.clone().text()).includes('invalid or malformed access token');
}
