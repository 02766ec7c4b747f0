import { createCounter } from '../common/observability/metrics.js';

/** The outcome of a rejected guess is called `slowed`, because dashboards of earlier versions select this label. */
export const guessesMetric = createCounter(
  'bakery_auth_proofs_total',
  'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  { secret: ['password', 'code'], outcome: ['ok', 'wrong', 'slowed'] },
);
