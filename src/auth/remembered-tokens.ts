import { Injectable } from '@nestjs/common';
import type { Caller } from '../common/current-user.decorator.js';

/** Some 10 MB at most; the tokens of a busy shop's last ten minutes. */
const MOST_TOKENS = 10_000;
/** Longer than any that the service signs: its claims have bounded lengths. */
const LONGEST_TOKEN = 4096;
const SECOND = 1000;

/**
 * Whom access tokens name that `JwtCookieGuard` has verified, until they expire: a signature that was good stays
 * good. Keyed by the whole token, so that one that differs in a single bit is verified anew.
 */
@Injectable()
export class RememberedTokens {
  readonly #callers = new Map<string, Caller>();

  /** Who holds a token; null when it was not verified yet, has expired or was forgotten. */
  find(token: string): Caller | null {
    const caller = this.#callers.get(token);
    if (caller === undefined) return null;
    // The very comparison of the verification (jsonwebtoken), so that a token ends at the same second either way.
    if (Math.floor(Date.now() / SECOND) < caller.expiresAt) return caller;
    this.#callers.delete(token);
    return null;
  }

  remember(token: string, caller: Caller): void {
    if (token.length > LONGEST_TOKEN) return;
    // All live equally long, so that the oldest is also the first to expire.
    const [oldest] = this.#callers.size >= MOST_TOKENS ? this.#callers.keys() : [];
    if (oldest !== undefined) this.#callers.delete(oldest);
    // A copy: the token is a piece of a Cookie header, and would keep all of it in memory.
    this.#callers.set(Buffer.from(token).toString(), Object.freeze({ ...caller }));
  }
}
