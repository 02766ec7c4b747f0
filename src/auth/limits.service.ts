import { Injectable } from '@nestjs/common';
import { createHmac, hkdfSync } from 'node:crypto';
import { RateLimiterPostgres, type RateLimiterRes } from 'rate-limiter-flexible';
import { DataSource } from 'typeorm';
import { authProofs } from '../common/metrics.js';
import { Env } from '../config/env.js';

/** Seconds, as the limiters count. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long an address is known as the owner's after a right password or code; most customers come back monthly. */
const KNOWN_SECONDS = 30 * DAY;

/** What the owner of an account proves itself with. */
export type Secret = 'password' | 'code';

/** Who guesses at which account. */
export interface Guesser {
  /** Its id; the e-mail that was tried where there is no account. */
  readonly account: number | string;
  /** As `ClientAddress` gives it. */
  readonly address: string;
}

/** Counts wrong guesses and mails, and says when there are too many (docs/decisions/09). All processes share the counts. */
@Injectable()
export class LimitsService {
  readonly #digestKey: Buffer;
  /** Wrong guesses at an account from one address, and from all addresses that its owner has not used. */
  readonly #wrong: Readonly<Record<Secret, { from: RateLimiterPostgres; at: RateLimiterPostgres }>>;
  readonly #wrongOfAddress: RateLimiterPostgres;
  readonly #known: RateLimiterPostgres;
  readonly #mails: RateLimiterPostgres;

  constructor(dataSource: DataSource, env: Env) {
    this.#digestKey = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'attempt counts', 32));
    const limiter = (keyPrefix: string, points: number, duration: number): RateLimiterPostgres =>
      new RateLimiterPostgres({
        storeClient: withoutStatementNames(dataSource),
        storeType: 'client',
        tableName: 'attempt_counts',
        tableCreated: true,
        keyPrefix,
        points,
        duration,
        // One limiter clears the table for all.
        clearExpiredByTimeout: keyPrefix === 'known',
      });
    this.#wrong = {
      // A person does not mistype 50 times. NIST SP 800-63B, 3.2.2, wants guessing at one account bounded at 100.
      password: { from: limiter('password-from', 50, HOUR), at: limiter('password-at', 100, HOUR) },
      // A code has five tries and a new one can be had each minute: without a limit, 300 guesses an hour.
      code: { from: limiter('code-from', 20, HOUR), at: limiter('code-at', 50, HOUR) },
    };
    // An office behind one address mistypes a few times a minute; this is more than one a second, all the time.
    this.#wrongOfAddress = limiter('wrong-of', 1_000, 15 * MINUTE);
    this.#known = limiter('known', 1, KNOWN_SECONDS);
    this.#mails = limiter('mails-to', 10, HOUR);
  }

  /**
   * Evaluates a guess and counts its outcome. A refused guess is answered like a wrong one, even if it was right.
   * @param check does the same work for a refused guess; gives null when the guess is wrong
   * @returns null for a wrong and for a refused guess
   */
  async guess<T>(
    secret: Secret,
    { account, address }: Guesser,
    check: (isRefused: boolean) => Promise<T | null>,
  ): Promise<T | null> {
    const { from, at } = this.#wrong[secret];
    const whose = typeof account === 'string' ? account.toLowerCase() : account;
    const keys = { pair: this.#key(whose, address), account: this.#key(whose), address: this.#key(address) };
    const [own, known] = await Promise.all([from.get(keys.pair), this.#known.get(keys.pair)]);
    let isRefused = isSpent(own);
    if (known === null) {
      const [all, ofAddress] = await Promise.all([
        at.get(keys.account),
        this.#wrongOfAddress.get(keys.address),
      ]);
      // While others guess at the account, an address that its owner has not used has its first guess alone.
      isRefused ||= isSpent(ofAddress) || (isSpent(all) && own !== null);
    }

    const proof = await check(isRefused);
    if (isRefused || proof === null) {
      const counted = [this.#wrongOfAddress.penalty(keys.address)];
      if (!isRefused) counted.push(from.penalty(keys.pair));
      if (!isRefused && known === null) counted.push(at.penalty(keys.account));
      await Promise.all(counted);
      authProofs.inc({ secret, outcome: isRefused ? 'slowed' : 'wrong' });
      return null;
    }
    if (own !== null) await from.delete(keys.pair);
    // A reset by mail forgives what was mistyped before.
    if (secret === 'code') await this.#wrong.password.from.delete(keys.pair);
    // Written once a day at most, not at each login.
    if (known === null || known.msBeforeNext < (KNOWN_SECONDS - DAY) * 1000)
      await this.#known.set(keys.pair, 1, KNOWN_SECONDS);
    authProofs.inc({ secret, outcome: 'ok' });
    return proof;
  }

  /** Makes an address a known one of an account that was just registered from there. */
  async rememberOwner(account: number, address: string): Promise<void> {
    await this.#known.set(this.#key(account, address), 1, KNOWN_SECONDS);
  }

  /** A digest of an address, for a job: its payload must not hold the address itself. */
  requesterOf(address: string): string {
    return this.#key(address);
  }

  /**
   * Mails an account, unless it was mailed enough at the request of the same address.
   * @param requester of `requesterOf`
   * @param send gives whether it mailed: what mails nothing is not counted, as somebody may press the button often
   */
  async mail(account: number, requester: string, send: () => Promise<boolean>): Promise<void> {
    const key = this.#key(account, requester);
    if (isSpent(await this.#mails.get(key))) return;
    if (await send()) await this.#mails.penalty(key);
  }

  /** A digest under a key of the service: the table names neither accounts nor addresses. */
  #key(...parts: readonly (string | number)[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64url');
  }
}

function isSpent(count: RateLimiterRes | null): boolean {
  return count?.remainingPoints === 0;
}

/**
 * The library names its statements. A transaction pooler hands each transaction to another connection, which may not
 * know the name or may have it already.
 */
function withoutStatementNames(dataSource: DataSource) {
  return {
    query: async ({ text, values }: { readonly text: string; readonly values: unknown[] }) => {
      const rows = await dataSource.query<unknown[]>(text, values);
      return { rows, rowCount: rows.length };
    },
  };
}
