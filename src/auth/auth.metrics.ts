import { Counter } from 'prom-client';

export type GuessOutcome = 'ok' | 'wrong' | 'rejected';

const guesses = new Counter({
  name: 'bakery_auth_proofs_total',
  help:
    'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  labelNames: ['secret', 'outcome'],
});
for (const secret of ['password', 'code'])
  for (const outcome of ['ok', 'wrong', 'slowed']) guesses.labels(secret, outcome).inc(0);

/** Counts a guess. The names of the metric and of the outcome `slowed` stay, because dashboards of version 1.2 select them. */
export function countGuess(secret: 'password' | 'code', outcome: GuessOutcome): void {
  guesses.inc({ secret, outcome: outcome === 'rejected' ? 'slowed' : outcome });
}
