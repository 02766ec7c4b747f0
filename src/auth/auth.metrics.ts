import { Counter } from 'prom-client';

/** `slowed`: rejected by a limit. The names of this outcome and of the metric stay, because dashboards of version 1.2 select them. */
const OUTCOMES = ['ok', 'wrong', 'slowed'] as const;
export type GuessOutcome = (typeof OUTCOMES)[number];

export const guesses = new Counter({
  name: 'bakery_auth_proofs_total',
  help:
    'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  labelNames: ['secret', 'outcome'],
});
for (const secret of ['password', 'code'])
  for (const outcome of OUTCOMES) guesses.labels(secret, outcome).inc(0);
