import { createCounter } from '../common/observability/metrics.js';

export type GuessOutcome = 'ok' | 'wrong' | 'rejected';

const guesses = createCounter(
  'bakery_auth_proofs_total',
  'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  { secret: ['password', 'code'], outcome: ['ok', 'wrong', 'slowed'] },
);

/** Counts a guess. The metric calls a rejected guess `slowed`, because dashboards of earlier versions select this outcome. */
export function countGuess(secret: 'password' | 'code', outcome: GuessOutcome): void {
  guesses.inc({ secret, outcome: outcome === 'rejected' ? 'slowed' : outcome });
}
