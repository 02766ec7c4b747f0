/**
 * Does the time of an answer tell whether an account exists, or whether a guesser is refused? Interleaved requests, one at
 * a time, and for each pair the difference of medians with a 95 % bootstrap interval. Run it on an idle machine, after
 * `npm run build`: `npm run bench:login-timing -- [rounds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import pg from 'pg';
import { createApp } from '../dist/src/app.setup.js';
import { readEnv } from '../dist/src/config/env.js';
import { migrate } from '../dist/src/config/migrate.js';
import { openDatabase } from '../dist/src/config/open-database.js';

const ROUNDS = Number(process.argv[2] ?? 200);
const WARM_UP = 20;
const RESAMPLES = 2_000;
/** Differences below this drown in any network, in milliseconds. */
const NEGLIGIBLE_MS = 1;
/** An interval wider than this says nothing: the machine was busy. In milliseconds. */
const TOO_WIDE_MS = 5;
const PASSWORD = 'kue lapis legit';

const dataDir = await mkdtemp(join(tmpdir(), 'bakery-timing-'));
const env = readEnv({
  NODE_ENV: 'test',
  PORT: '0',
  HOST: '127.0.0.1',
  DATA_DIR: dataDir,
  TRUSTED_PROXIES: '1',
});
const database = await openDatabase(env, () => undefined);
await migrate(database.url);
const app = await createApp(env, database, pino({ level: 'silent' }));
await app.listen(0, '127.0.0.1');
const url = `http://127.0.0.1:${app.getHttpServer().address().port}`;
const pool = new pg.Pool({ connectionString: database.url });

const post = async (path, body, address) => {
  const start = performance.now();
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify(body),
  });
  await response.text();
  return { status: response.status, time: performance.now() - start };
};
const login = (email, address) => () => post('/api/login', { email, password: 'wrong' }, address);
const reset = (email, address) => () =>
  post('/api/password/reset', { email, otp: 'wrong', password: 'x', passwordConfirmation: 'x' }, address);

await post(
  '/api/register',
  { email: 'known@example.com', fullname: 'K', password: PASSWORD, passwordConfirmation: PASSWORD },
  '192.0.2.250',
);
// Each from an address of its own, whose counts are put back each round; two are kept over their limits.
const CASES = {
  'login, wrong password': login('known@example.com', '192.0.2.1'),
  'login, unknown e-mail': login('unknown@example.com', '192.0.2.2'),
  'login, account refused': login('known@example.com', '192.0.2.3'),
  'login, address refused': login('known@example.com', '192.0.2.4'),
  'forgot, known': () => post('/api/password/forgot', { email: 'known@example.com' }, '192.0.2.5'),
  'forgot, unknown': () => post('/api/password/forgot', { email: 'unknown@example.com' }, '192.0.2.6'),
  'reset, known': reset('known@example.com', '192.0.2.7'),
  'reset, unknown': reset('unknown@example.com', '192.0.2.8'),
};
const PAIRS = [
  ['login, wrong password', 'login, unknown e-mail'],
  ['login, wrong password', 'login, account refused'],
  ['login, wrong password', 'login, address refused'],
  ['forgot, known', 'forgot, unknown'],
  ['reset, known', 'reset, unknown'],
];

/** Runs one case and learns which rows it counted in, so that they can be set. */
async function rowsOf(call) {
  await pool.query('TRUNCATE attempt_counts');
  await call();
  return (await pool.query('SELECT key, points, expire FROM attempt_counts')).rows;
}
const rows = {};
for (const [name, call] of Object.entries(CASES)) rows[name] = await rowsOf(call);
const over = [
  [rows['login, account refused'].filter(({ key }) => key.startsWith('password-from')), 50],
  [rows['login, address refused'].filter(({ key }) => key.startsWith('wrong-of')), 1_000],
];
async function putBack() {
  await pool.query('TRUNCATE attempt_counts');
  for (const [counts, points] of over)
    for (const { key, expire } of counts)
      await pool.query('INSERT INTO attempt_counts VALUES ($1, $2, $3)', [key, points, expire]);
}

const times = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]));
for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
  await putBack();
  // In another order each round, so that nobody always follows the same one.
  const order = Object.entries(CASES).sort(() => Math.random() - 0.5);
  for (const [name, call] of order) {
    const { status, time } = await call();
    if (status >= 500) throw new Error(`${name}: ${status}`);
    if (round >= WARM_UP) times[name].push(time);
  }
}
await pool.end();
await app.close();
await database.close();
await rm(dataDir, { recursive: true, force: true });

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const resample = (values) => values.map(() => values[Math.floor(Math.random() * values.length)]);
function interval(a, b) {
  const differences = Array.from({ length: RESAMPLES }, () => median(resample(a)) - median(resample(b)));
  differences.sort((x, y) => x - y);
  return [differences[Math.floor(RESAMPLES * 0.025)], differences[Math.floor(RESAMPLES * 0.975)]];
}

function verdictOf(low, high) {
  if (Math.max(-low, high) < NEGLIGIBLE_MS) return 'negligible';
  if (low > 0 || high < 0) return 'TOLD APART';
  return high - low > TOO_WIDE_MS ? 'none seen, but too noisy to say' : 'none to be seen';
}

console.log(`${ROUNDS} rounds; medians in ms`);
for (const [name, values] of Object.entries(times))
  console.log(`  ${name.padEnd(26)}${median(values).toFixed(2)}`);
console.log('differences of medians in ms, with their 95 % interval');
let isTold = false;
for (const [one, other] of PAIRS) {
  const [low, high] = interval(times[one], times[other]);
  const verdict = verdictOf(low, high);
  isTold ||= verdict === 'TOLD APART';
  const difference = median(times[one]) - median(times[other]);
  console.log(
    `  ${`${one} / ${other}`.padEnd(50)}${difference.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]  ${verdict}`,
  );
}
process.exit(isTold ? 1 : 0);
