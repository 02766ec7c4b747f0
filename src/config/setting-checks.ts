import { unescape } from 'node:querystring';
import type { EnvironmentVariables, Problems, VariableName } from './environment-variables.js';
import { isPublished } from './published-secrets.js';

type Check = readonly [name: VariableName, isBad: boolean, problem: string];

const MINIMUM_PASSWORD_LENGTH = 12;
const SECRETS = ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET', 'MIDTRANS_SERVER_KEY', 'ADMIN_PASSWORD'] as const;
const URLS = ['DATABASE_URL', 'SMTP_URL', 'CLOUDINARY_URL'] as const;

/** Finds settings that contradict each other, and settings that development accepts and production rejects. */
export function findProblems(variables: EnvironmentVariables): Problems {
  const checks = findContradictions(variables);
  if (variables.NODE_ENV === 'production') checks.push(...checkProduction(variables));
  const problems = checks.filter(([, isBad]) => isBad).map(([name, , problem]) => [name, problem]);
  return Object.fromEntries(problems) as Problems;
}

function findContradictions(variables: EnvironmentVariables): Check[] {
  const isUnset = (name: VariableName) => variables[name] === undefined;
  const { JWT_ACCESS_SECRET: accessSecret, IMAGE_HOST, METRICS_PORT, PAYMENT_GATEWAY, PORT } = variables;
  const isSameSecret = accessSecret !== undefined && accessSecret === variables.JWT_REFRESH_SECRET;
  const hasNoEmail = isUnset('ADMIN_EMAIL') && !isUnset('ADMIN_PASSWORD');
  const hasNoPassword = isUnset('ADMIN_PASSWORD') && !isUnset('ADMIN_EMAIL');
  const hasNoImageHost = IMAGE_HOST === 'cloudinary' && isUnset('CLOUDINARY_URL');
  const hasNoServerKey = PAYMENT_GATEWAY === 'midtrans' && isUnset('MIDTRANS_SERVER_KEY');
  return [
    ['ADMIN_EMAIL', hasNoEmail, 'is required with ADMIN_PASSWORD'],
    ['ADMIN_PASSWORD', hasNoPassword, 'is required with ADMIN_EMAIL'],
    ['JWT_REFRESH_SECRET', isSameSecret, 'must differ from JWT_ACCESS_SECRET'],
    ['CLOUDINARY_URL', hasNoImageHost, 'is required with IMAGE_HOST=cloudinary'],
    ['MIDTRANS_SERVER_KEY', hasNoServerKey, 'is required with PAYMENT_GATEWAY=midtrans'],
    ['METRICS_PORT', METRICS_PORT === PORT, 'must differ from PORT: metrics are not for clients'],
  ];
}

function checkProduction(variables: EnvironmentVariables): Check[] {
  const { ADMIN_PASSWORD: password, gateway } = variables;
  const isShort = password !== undefined && Array.from(password).length < MINIMUM_PASSWORD_LENGTH;
  const simulatorProblem = 'must be midtrans in production: the simulator lets anyone pay for nothing';
  // With a published secret, anybody who has read this repository could sign tokens and notifications, or sign in.
  const hasPublished = (name: VariableName, secrets: string[]): Check => [
    name,
    secrets.some(isPublished),
    'contains a secret that this repository publishes',
  ];
  return [
    ['JWT_ACCESS_SECRET', variables.JWT_ACCESS_SECRET === undefined, 'is required in production'],
    ['JWT_REFRESH_SECRET', variables.JWT_REFRESH_SECRET === undefined, 'is required in production'],
    ['PAYMENT_GATEWAY', gateway === 'simulator', simulatorProblem],
    ['ADMIN_PASSWORD', isShort, `must have at least ${MINIMUM_PASSWORD_LENGTH} characters in production`],
    ...SECRETS.map((name) => hasPublished(name, [variables[name] ?? ''])),
    ...URLS.map((name) => hasPublished(name, readPasswords(variables[name]))),
  ];
}

/** Returns the decoded passwords of a URL. PostgreSQL's driver also accepts a password in the query. */
function readPasswords(url = ''): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  // Unlike decodeURIComponent, `unescape` accepts bytes that are not UTF-8.
  return [unescape(password), ...searchParams.getAll('password')];
}
