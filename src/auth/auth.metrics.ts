import { Counter } from 'prom-client';

/** `slowed`: rejected by a limit. The names of this outcome and of the metric stay, because dashboards of version 1.2 select them. */
export type GuessOutcome = 'ok' | 'wrong' | 'slowed';

export const guesses = new Counter({
  name: 'bakery_auth_proofs_total',
  help:
    'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  labelNames: ['secret', 'outcome'],
});
for (const secret of ['password', 'code'])
  for (const outcome of ['ok', 'wrong', 'slowed']) guesses.labels(secret, outcome).inc(0);
