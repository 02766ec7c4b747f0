import { unescape } from 'node:querystring';
import type { Env, GivenSettings } from './env.js';
import { isPublished } from './published-secrets.js';

const MINIMUM_PASSWORD_LENGTH = 12;
const SECRETS = ['jwtAccessSecret', 'jwtRefreshSecret', 'midtransServerKey', 'adminPassword'] as const;
const URLS = ['databaseUrl', 'smtpUrl', 'cloudinaryUrl'] as const;

/** Problem of each bad setting, shown after its variable. `GivenSettings` contains fixed defaults, such as that of PORT. */
type Problems = Partial<Record<keyof Env, string>>;

export function findContradictions(given: GivenSettings): Problems {
  const { adminEmail, adminPassword, jwtAccessSecret } = given;
  const problems: Problems = {};
  if (adminEmail === undefined && adminPassword !== undefined)
    problems.adminEmail = 'is required with ADMIN_PASSWORD';
  if (adminPassword === undefined && adminEmail !== undefined)
    problems.adminPassword = 'is required with ADMIN_EMAIL';
  if (jwtAccessSecret !== undefined && jwtAccessSecret === given.jwtRefreshSecret)
    problems.jwtRefreshSecret = 'must differ from JWT_ACCESS_SECRET';
  if (given.imageHost === 'cloudinary' && given.cloudinaryUrl === undefined)
    problems.cloudinaryUrl = 'is required with IMAGE_HOST=cloudinary';
  if (given.paymentGateway === 'midtrans' && given.midtransServerKey === undefined)
    problems.midtransServerKey = 'is required with PAYMENT_GATEWAY=midtrans';
  if (given.metricsPort === given.port)
    problems.metricsPort = 'must differ from PORT: metrics are not for clients';
  return problems;
}

/** Finds settings that development accepts and production rejects. */
export function findProductionProblems(given: GivenSettings): Problems {
  const { adminPassword, midtransServerKey, paymentGateway } = given;
  const problems: Problems = {};
  for (const name of ['jwtAccessSecret', 'jwtRefreshSecret'] as const)
    if (given[name] === undefined) problems[name] = 'is required in production';
  // If PAYMENT_GATEWAY is unset, the service uses the simulator unless there is a server key.
  if (paymentGateway === 'simulator' || (paymentGateway ?? midtransServerKey) === undefined)
    problems.paymentGateway =
      'must be midtrans in production, with MIDTRANS_SERVER_KEY: the simulator lets anyone pay for nothing';
  if (adminPassword !== undefined && Array.from(adminPassword).length < MINIMUM_PASSWORD_LENGTH)
    problems.adminPassword = `must have at least ${MINIMUM_PASSWORD_LENGTH} characters in production`;
  // With a published secret, anybody who has read this repository could sign tokens and notifications, or sign in.
  const withPublished = [
    ...SECRETS.filter((name) => isPublished(given[name] ?? '')),
    ...URLS.filter((name) => readPasswords(given[name]).some(isPublished)),
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
