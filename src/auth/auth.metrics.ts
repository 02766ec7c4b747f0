import { createCounter } from '../common/observability/metrics.js';

/**
 * Counts guesses. The name of the metric and the outcome `slowed`, which means rejected, stay because dashboards of earlier
 * versions select them.
 */
export const guesses = createCounter(
  'bakery_auth_proofs_total',
  'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  { secret: ['password', 'code'], outcome: ['ok', 'wrong', 'slowed'] },
);
