import { unescape } from 'node:querystring';
import type { ParsedSettings, Problems } from './env.js';

const SECRETS = ['jwtAccessSecret', 'jwtRefreshSecret', 'midtransServerKey', 'adminPassword'] as const;
const URLS = ['databaseUrl', 'smtpUrl', 'cloudinaryUrl'] as const;
const MINIMUM_LENGTHS = [
  ['midtransServerKey', 16],
  ['adminPassword', 12],
] as const;
const MINIMUM_DIFFERENT_CHARACTERS = 5;
/** Minimum number of characters that do not continue a run such as `aaaa`, `1234` or `fedc`. */
const MINIMUM_JUMPS = 6;

/** Secrets in files of this repository or of its earlier versions. Anybody can read them, so production rejects them. */
const PUBLISHED = [
  'SB-Mid-server-local', // the server key of the payment simulator
  'SB-Mid-server-of-the-tests',
  'SB-Mid-server-of-the-benchmark',
  'SB-Mid-server-theKeyOfThisTest',
  'SB-Mid-server-anotherKey',
  'SB-Mid-server-x',
  'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U', // from Midtrans' documentation, used in the tests
  'a676b67565c6767a6767d6767f676fe1', // from Cloudinary's documentation, used in the tests
  'of-this-compose-file-alone-access-key',
  'of-this-compose-file-alone-refresh-key',
  'access secret of the tests, 32 characters or more',
  'refresh secret of the tests, 32 characters or more',
  'the access secret of the benchmark, no other',
  'the refresh secret of the benchmark, no other',
  'nothing is signed while the document is written: 1',
  'nothing is signed while the document is written: 2',
  'another key, which is long enough for anything',
  'open sesame', // the administrator's password in the README
  'the admin password',
  'kue lapis',
  'kue lapis legit',
  'correct horse',
  'correct horse battery staple',
  'nastar dan kastengel',
  'chosen by the owner',
  'a secret password',
  'thisIsTheApiSecret',
  'secret-word',
  'spaces count',
  'secret', // the secret in the examples of CLOUDINARY_URL
  'bakery', // the database's password in docker-compose.yml
  'password', // in deploy/production.env.example
];

export function findProductionProblems(parsed: ParsedSettings): Problems {
  const { midtransServerKey, paymentGateway } = parsed;
  const problems: Problems = {};
  for (const name of ['jwtAccessSecret', 'jwtRefreshSecret'] as const)
    if (parsed[name] === undefined) problems[name] = 'is required in production';
  // If PAYMENT_GATEWAY is unset, the service uses the simulator unless there is a server key.
  if (paymentGateway === 'simulator' || (paymentGateway === undefined && midtransServerKey === undefined))
    problems.paymentGateway =
      'must be midtrans in production, with MIDTRANS_SERVER_KEY: the simulator lets anyone pay for nothing';
  for (const name of SECRETS)
    if (parsed[name] !== undefined && isPredictable(parsed[name]))
      problems[name] =
        'can be guessed: use a random value in production, for example from `openssl rand -base64 36`';
  for (const [name, minimum] of MINIMUM_LENGTHS)
    if (parsed[name] !== undefined && Array.from(parsed[name]).length < minimum)
      problems[name] = `must have at least ${minimum} characters in production`;
  // With a published secret, anybody who has read this repository could sign tokens and notifications, or sign in.
  const withPublished = [
    ...SECRETS.filter((name) => isPublished(parsed[name] ?? '')),
    ...URLS.filter((name) => readPasswords(parsed[name]).some(isPublished)),
  ];
  for (const name of withPublished) problems[name] = 'contains a secret that this repository publishes';
  return problems;
}

/** Lists warnings about settings with which a shop can start, but probably does not work as intended. */
export function* findProductionWarnings(parsed: ParsedSettings): Generator<string> {
  if (parsed.smtpUrl === undefined)
    yield 'SMTP_URL is unset: mail is written to DATA_DIR/outbox and sent to nobody';
  if (parsed.publicUrl === undefined)
    yield 'PUBLIC_URL is unset: URLs of local images begin with http://localhost';
  if (parsed.corsOrigins === undefined)
    yield 'CORS_ORIGINS is unset: storefronts on other origins cannot use the service';
  const sandbox = "is an address of the gateway's sandbox: no customer really pays";
  if (parsed.midtransSnapUrl.includes('sandbox')) yield `MIDTRANS_SNAP_URL ${sandbox}`;
  if (parsed.midtransApiUrl.includes('sandbox')) yield `MIDTRANS_API_URL ${sandbox}`;
}

/** Returns true for a text with few different characters, for a repeated text and for runs such as `1234`. */
function isPredictable(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  const jumps = steps.filter((step, index) => Math.abs(step) > 1 && step !== steps[index - 1]);
  const isRepeated = /^(.+?)\1+$/su.test(text);
  return isRepeated || new Set(codes).size < MINIMUM_DIFFERENT_CHARACTERS || jumps.length < MINIMUM_JUMPS;
}

function isPublished(secret: string): boolean {
  const text = secret.trim().toLowerCase();
  return PUBLISHED.some((published) => published.toLowerCase() === text);
}

/** Returns the decoded passwords of a URL. PostgreSQL's driver also accepts a password in the query. */
function readPasswords(url = ''): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  // Unlike decodeURIComponent, `unescape` accepts bytes that are not UTF-8.
  return [unescape(password), ...searchParams.getAll('password')];
}
