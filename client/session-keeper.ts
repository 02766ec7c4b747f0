import { acrossTabs, lastRefreshElsewhere, rememberRefresh } from './tabs.js';

/** Sends a request and gives its answer, whatever its status; rejects when there is none. */
export type Send = (request: Request) => Promise<Response>;

interface SessionOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly send: Send;
  readonly onSignedOut: () => void;
}

/** What a refresh led to: the session goes on, it has ended, or the service could not say. */
type Outcome = 'renewed' | 'ended' | Response;

/** Longer than any answer takes; a refresh that hangs would hold up every tab. */
const REFRESH_DEADLINE_MS = 15_000;

/** A cookie that no key of the service fits; a refresh replaces it like an expired one. */
const MALFORMED_TOKEN = 'invalid or malformed access token';

/**
 * Refresh-and-repeat (interface section 5, rule 2). Calls that are refused together share one refresh, also over the
 * tabs of a browser, whose cookies are shared. Nothing is ever repeated twice.
 */
export class SessionKeeper {
  readonly #refreshUrl: string;
  readonly #options: SessionOptions;
  #renewals = 0;
  #refreshing: Promise<Outcome> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#refreshUrl = `${options.baseUrl}/api/refresh`;
  }

  /**
   * @returns the answer; that of the refresh if it failed for another reason than an ended session (5xx)
   * @throws TypeError when the service cannot be reached
   */
  async call(request: Request, send: Send): Promise<Response> {
    if (request.url === this.#refreshUrl) return this.#callRefresh(request, send);
    // Sending uses the body up, whatever it is made of.
    const repetition = request.clone();
    const sentAt = Date.now();
    const renewals = this.#renewals;
    const answer = await send(request);
    if (!(await isRefused(answer))) return answer;
    // Another call may have brought the new cookie while this one was on its way.
    const outcome = this.#renewals === renewals ? await this.#refresh(sentAt) : 'renewed';
    if (outcome === 'ended') return answer;
    await answer.body?.cancel();
    return outcome === 'renewed' ? send(repetition) : outcome.clone();
  }

  /** A refresh that the caller asked for also renews the session for calls on their way. */
  async #callRefresh(request: Request, send: Send): Promise<Response> {
    const answer = await send(request);
    if (answer.ok) this.#renewed();
    return answer;
  }

  #refresh(sentAt: number): Promise<Outcome> {
    this.#refreshing ??= acrossTabs(this.#refreshUrl, () => this.#refreshUnlessDone(sentAt)).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshUnlessDone(sentAt: number): Promise<Outcome> {
    if (lastRefreshElsewhere(this.#refreshUrl) > sentAt) {
      this.#renewals += 1;
      return 'renewed';
    }
    const request = new Request(this.#refreshUrl, {
      credentials: 'include',
      signal: AbortSignal.timeout(REFRESH_DEADLINE_MS),
    });
    const answer = await this.#options.send(request);
    if (answer.ok) {
      await answer.body?.cancel();
      this.#renewed();
      return 'renewed';
    }
    if (answer.status !== 401) return answer;
    await answer.body?.cancel();
    this.#options.onSignedOut();
    return 'ended';
  }

  #renewed(): void {
    this.#renewals += 1;
    rememberRefresh(this.#refreshUrl, Date.now());
  }
}

async function isRefused(answer: Response): Promise<boolean> {
  if (answer.status !== 400) return answer.status === 401;
  return (await answer.clone().text()).includes(MALFORMED_TOKEN);
}
