import { unescape } from 'node:querystring';
import type { EnvironmentVariables, Problems } from './environment-variables.js';
import { isPublished } from './published-secrets.js';

const MINIMUM_PASSWORD_LENGTH = 12;
const SECRETS = ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET', 'MIDTRANS_SERVER_KEY', 'ADMIN_PASSWORD'] as const;
const URLS = ['DATABASE_URL', 'SMTP_URL', 'CLOUDINARY_URL'] as const;

/** Finds settings that contradict each other. */
export function findContradictions(variables: EnvironmentVariables): Problems {
  const { ADMIN_EMAIL, ADMIN_PASSWORD, JWT_ACCESS_SECRET } = variables;
  const problems: Problems = {};
  if (ADMIN_EMAIL === undefined && ADMIN_PASSWORD !== undefined)
    problems.ADMIN_EMAIL = 'is required with ADMIN_PASSWORD';
  if (ADMIN_PASSWORD === undefined && ADMIN_EMAIL !== undefined)
    problems.ADMIN_PASSWORD = 'is required with ADMIN_EMAIL';
  if (JWT_ACCESS_SECRET !== undefined && JWT_ACCESS_SECRET === variables.JWT_REFRESH_SECRET)
    problems.JWT_REFRESH_SECRET = 'must differ from JWT_ACCESS_SECRET';
  if (variables.IMAGE_HOST === 'cloudinary' && variables.CLOUDINARY_URL === undefined)
    problems.CLOUDINARY_URL = 'is required with IMAGE_HOST=cloudinary';
  if (variables.PAYMENT_GATEWAY === 'midtrans' && variables.MIDTRANS_SERVER_KEY === undefined)
    problems.MIDTRANS_SERVER_KEY = 'is required with PAYMENT_GATEWAY=midtrans';
  if (variables.METRICS_PORT === variables.PORT)
    problems.METRICS_PORT = 'must differ from PORT: metrics are not for clients';
  return problems;
}

/** Finds settings that development accepts and production rejects. */
export function findProductionProblems(variables: EnvironmentVariables): Problems {
  const { ADMIN_PASSWORD: password } = variables;
  const problems: Problems = {};
  for (const name of ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET'] as const)
    if (variables[name] === undefined) problems[name] = 'is required in production';
  if (variables.gateway === 'simulator')
    problems.PAYMENT_GATEWAY = 'must be midtrans in production: the simulator lets anyone pay for nothing';
  if (password !== undefined && Array.from(password).length < MINIMUM_PASSWORD_LENGTH)
    problems.ADMIN_PASSWORD = `must have at least ${MINIMUM_PASSWORD_LENGTH} characters in production`;
  // With a published secret, anybody who has read this repository could sign tokens and notifications, or sign in.
  const withPublished = [
    ...SECRETS.filter((name) => isPublished(variables[name] ?? '')),
    ...URLS.filter((name) => readPasswords(variables[name]).some(isPublished)),
  ];
  for (const name of withPublished) problems[name] = 'contains a secret that this repository publishes';
  return problems;
}

/** Returns the decoded passwords of a URL. PostgreSQL's driver also accepts a password in the query. */
function readPasswords(url = ''): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  // Unlike decodeURIComponent, `unescape` accepts bytes that are not UTF-8.
  return [unescape(password), ...searchParams.getAll('password')];
}
