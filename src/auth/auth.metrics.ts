import { Counter } from 'prom-client';

/** `slowed`: rejected by a limit. The names of this outcome and of the metric stay, because dashboards of version 1.2 select them. */
const OUTCOMES = ['ok', 'wrong', 'slowed'] as const;
const SECRETS = ['password', 'code'] as const;

const guesses = new Counter({
  name: 'bakery_auth_proofs_total',
  help:
    'Passwords (at login and for changes of an account) and codes by outcome; slowed: rejected by a limit of the client ' +
    'address, the account or the code',
  labelNames: ['secret', 'outcome'],
});
for (const secret of SECRETS) for (const outcome of OUTCOMES) guesses.labels(secret, outcome).inc(0);

/** Counts a guess in the metrics. Returns true if the guess is right. */
export function reportGuess(secret: (typeof SECRETS)[number], outcome: (typeof OUTCOMES)[number]): boolean {
  guesses.inc({ secret, outcome });
  return outcome === 'ok';
}
