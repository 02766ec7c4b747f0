import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { authProofs } from '../common/metrics.js';
import { JobsService } from '../jobs/jobs.service.js';
import {
  GUESSES_AT_ONE_ACCOUNT,
  GUESSES_FROM_ONE_ADDRESS,
  GUESSES_OF_ONE_ADDRESS,
  KNOWN_ADDRESS_RENEWED_AFTER_SECONDS,
  KNOWN_ADDRESS_SECONDS,
  type Secret,
  STRANGERS_GUESSES_UNDER_ATTACK,
} from './attempt-limits.js';
import { AttemptsRepository, type Count, type CountKey } from './attempts.repository.js';

const FORGET_ATTEMPTS = 'forget-attempts';

/** Who guesses at whose secret. */
export interface Guesser {
  /** Id of the account; where there is none, the e-mail that was tried: it is counted all the same. */
  readonly account: number | string;
  /** As `ClientAddress` gives it. */
  readonly address: string;
}

/** Why a guess is not evaluated; null: it is. */
type Refusal = 'account' | 'address' | null;

/** How a guess is checked, and what is done instead when it must not be. */
export interface GuessCheck<T> {
  /** @returns null when the guess is wrong */
  readonly check: () => Promise<T | null>;
  /** As long as `check` as far as a client can tell; what it gives is ignored. */
  readonly instead: (refusal: Exclude<Refusal, null>) => Promise<unknown>;
}

/** The counts that a guess is judged by. */
interface Keys {
  readonly from: CountKey;
  readonly at: CountKey;
  readonly wrong: CountKey;
  readonly known: CountKey;
  /** Of every secret: one proved from here forgives what was mistyped here before. */
  readonly ownFailures: readonly CountKey[];
}

/** Slows guessing without notice (docs/decisions/09): whoever is refused is answered as for a wrong guess. */
@Injectable()
export class GuessesService implements OnModuleInit {
  constructor(
    private readonly attempts: AttemptsRepository,
    private readonly jobs: JobsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(FORGET_ATTEMPTS, () => this.attempts.forgetExpired());
    this.jobs.repeat(FORGET_ATTEMPTS, '23 * * * *');
  }

  /**
   * Evaluates a guess unless too many were wrong. Costs a right one two reads by primary key, and a write when
   * something was wrong before or the address is new.
   * @returns null for a wrong guess and for one that was not evaluated
   */
  async evaluate<T>(secret: Secret, guesser: Guesser, { check, instead }: GuessCheck<T>): Promise<T | null> {
    const keys = this.#keys(secret, guesser);
    const refusal = refusalOf(secret, keys, await this.#read(keys));
    if (refusal !== null) {
      await instead(refusal);
      await this.attempts.add(keys.wrong);
      authProofs.inc({ secret, outcome: 'slowed' });
      return null;
    }
    const proof = await check();
    // Read again: guesses that were sent at the same moment were all let through, and have been counted since.
    const counts = await this.#read(keys);
    const isLate = refusalOf(secret, keys, counts) !== null;
    if (proof === null || isLate) {
      await this.#countFailure(keys, counts);
      authProofs.inc({ secret, outcome: isLate ? 'slowed' : 'wrong' });
      return null;
    }
    await this.#remember(keys, counts);
    authProofs.inc({ secret, outcome: 'ok' });
    return proof;
  }

  /** Takes an address for the owner's, who has just registered there. */
  async knowOwner(tx: EntityManager, guesser: Guesser): Promise<void> {
    await this.attempts.renewIn(tx, this.#keys('password', guesser).known);
  }

  #keys(secret: Secret, { account, address }: Guesser): Keys {
    const whose = typeof account === 'string' ? account.toLowerCase() : account;
    const from = (of: Secret): CountKey => this.attempts.key(`${of}-from`, whose, address);
    return {
      from: from(secret),
      at: this.attempts.key(`${secret}-at`, whose),
      wrong: this.attempts.key('wrong-of', address),
      known: this.attempts.key('known', whose, address),
      ownFailures: [from('password'), from('code')],
    };
  }

  #read({ at, wrong, known, ownFailures }: Keys): Promise<(key: CountKey) => Count> {
    return this.attempts.read([at, wrong, known, ...ownFailures]);
  }

  async #countFailure({ from, at, wrong, known }: Keys, of: (key: CountKey) => Count): Promise<void> {
    const counted = of(known).count > 0 ? [from, wrong] : [from, wrong, at];
    await Promise.all(counted.map((key) => this.attempts.add(key)));
  }

  async #remember({ known, ownFailures }: Keys, of: (key: CountKey) => Count): Promise<void> {
    const isFresh = of(known).secondsLeft > KNOWN_ADDRESS_SECONDS - KNOWN_ADDRESS_RENEWED_AFTER_SECONDS;
    await Promise.all([
      ...(isFresh ? [] : [this.attempts.renew(known)]),
      ...ownFailures.filter((key) => of(key).count > 0).map((key) => this.attempts.forget(key)),
    ]);
  }
}

/**
 * A known address has its own count and no other, so that nobody elsewhere can use it up. A stranger's is cut short
 * while the account is under attack, and void while its address guesses at everybody.
 */
function refusalOf(secret: Secret, { from, at, wrong, known }: Keys, of: (key: CountKey) => Count): Refusal {
  const isKnown = of(known).count > 0;
  const isUnderAttack = of(at).count >= GUESSES_AT_ONE_ACCOUNT[secret].free;
  const free =
    isUnderAttack && !isKnown ? STRANGERS_GUESSES_UNDER_ATTACK : GUESSES_FROM_ONE_ADDRESS[secret].free;
  const isSpent = of(from).count >= free;
  if (of(wrong).count >= GUESSES_OF_ONE_ADDRESS.free && (isSpent || !isKnown)) return 'address';
  return isSpent ? 'account' : null;
}
