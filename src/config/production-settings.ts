import type { EnvironmentVariables, Problems, VariableName } from './environment-variables.js';
import { isPublished } from './published-secrets.js';

const MINIMUM_PASSWORD_LENGTH = 12;
const SECRETS = ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET', 'MIDTRANS_SERVER_KEY', 'ADMIN_PASSWORD'] as const;
const URLS = ['DATABASE_URL', 'SMTP_URL', 'CLOUDINARY_URL'] as const;

/** Finds settings that development accepts and production rejects. */
export function findProductionProblems(variables: EnvironmentVariables): Problems {
  const problems: Problems = {};
  for (const name of ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET'] as const)
    if (variables[name] === undefined) problems[name] = 'is required in production';
  if (
    (variables.PAYMENT_GATEWAY ?? (variables.MIDTRANS_SERVER_KEY ? 'midtrans' : 'simulator')) === 'simulator'
  )
    problems.PAYMENT_GATEWAY = 'must be midtrans in production: the simulator lets anyone pay for nothing';
  const { ADMIN_PASSWORD: password } = variables;
  if (password !== undefined && Array.from(password).length < MINIMUM_PASSWORD_LENGTH)
    problems.ADMIN_PASSWORD = `must have at least ${MINIMUM_PASSWORD_LENGTH} characters in production`;
  // With a published secret, anybody who has read this repository could sign tokens and notifications, or sign in.
  const published: VariableName[] = [
    ...SECRETS.filter((name) => isPublished(variables[name] ?? '')),
    ...URLS.filter((name) => readPasswords(variables[name]).some(isPublished)),
  ];
  for (const name of published) problems[name] = 'contains a secret that this repository publishes';
  return problems;
}

/** Returns the decoded passwords of a URL. PostgreSQL's driver also accepts a password in the query. */
function readPasswords(url = ''): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [decode(password), ...searchParams.getAll('password')];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Bytes that are not UTF-8 cannot be one of the published texts.
  }
}

/** Returns a warning for each unset setting without which a feature does not work in production. */
export function findProductionWarnings(variables: EnvironmentVariables): string[] {
  if (variables.NODE_ENV !== 'production') return [];
  const effects: Partial<Record<VariableName, string>> = {
    SMTP_URL: 'mail is written to DATA_DIR/outbox and sent to nobody',
    PUBLIC_URL: 'image URLs and links in mails begin with http://localhost',
    CORS_ORIGINS: 'storefronts on other origins cannot use the service',
  };
  return Object.entries(effects)
    .filter(([name]) => variables[name as VariableName] === undefined)
    .map(([name, effect]) => `${name} is unset: ${effect}`);
}
