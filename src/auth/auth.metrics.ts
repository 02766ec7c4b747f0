import { createCounter } from '../common/observability/metrics.js';

export const authProofs = createCounter(
  'bakery_auth_proofs_total',
  'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected after too many guesses',
  { secret: ['password', 'code'], outcome: ['ok', 'wrong', 'slowed'] },
);
