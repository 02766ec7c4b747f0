import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { existsSync } from 'node:fs';
import { loadDevelopmentSecrets } from './development-secrets.js';
import { Env, type GivenSettings } from './env.js';
import { findContradictions, findProductionProblems } from './setting-checks.js';

const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';

const WARNINGS = [
  ['smtpUrl', 'SMTP_URL is unset: mail is written to DATA_DIR/outbox and sent to nobody'],
  ['publicUrl', 'PUBLIC_URL is unset: image URLs and links in mails begin with http://localhost'],
  ['corsOrigins', 'CORS_ORIGINS is unset: storefronts on other origins cannot use the service'],
] as const;

const rules = getMetadataStorage().getTargetValidationMetadatas(Env, '', false, false);
/** Name of the environment variable of each setting. The variable of `midtransSnapUrl` is `MIDTRANS_SNAP_URL`. */
export const VARIABLES = new Map(
  rules.map(({ propertyName: name }) => [name, name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()]),
);

/**
 * Reads and validates every setting.
 * @throws Error whose message names every bad variable, so that the operator can fix all at once
 */
export function readEnv(source = loadProcessEnv()): Env {
  const given = parseVariables(source);
  const isProduction = given.nodeEnv === 'production';
  const invalid = validateSync(given, { skipMissingProperties: true });
  const problems = new Map([
    ...Object.entries({ ...findContradictions(given), ...(isProduction && findProductionProblems(given)) }),
    ...invalid.map(({ property, constraints = {} }) => [property, Object.values(constraints)[0]] as const),
  ]);
  const lines = [...problems].map(([name, problem]) => `  ${VARIABLES.get(name)} ${problem}`);
  if (lines.length > 0) throw new Error(`The service cannot start with these settings:\n${lines.join('\n')}`);
  const warnings = isProduction ? WARNINGS.filter(([name]) => given[name] === undefined) : [];
  return Object.assign(new Env(), deriveDefaults(given), given, {
    warnings: warnings.map(([, text]) => text),
  });
}

/**
 * Returns the options that npm consumed because `--` was missing. For `npm run seed --products 10`, npm sets
 * `npm_config_products` and does not pass the option to the command.
 */
export function findOptionsTakenByNpm(names: readonly string[]): string[] {
  return names.filter((name) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined);
}

/** Loads a `.env` file in the working directory. Variables that are already set are not replaced. */
function loadProcessEnv(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

/** Parses the variables. An empty variable counts as unset, like `NAME=` in a Compose file. */
function parseVariables(source: NodeJS.ProcessEnv): GivenSettings {
  const texts: Record<string, string> = {};
  for (const [name, variable] of VARIABLES) {
    const text = source[variable] ?? '';
    // Spaces around a password are part of the password.
    if (text.trim() !== '') texts[name] = name === 'adminPassword' ? text : text.trim();
  }
  return plainToInstance(Env, texts);
}

function deriveDefaults(given: GivenSettings): Partial<Env> {
  const areKeysSet = given.jwtAccessSecret !== undefined && given.jwtRefreshSecret !== undefined;
  return {
    publicUrl: `http://localhost:${given.port}`,
    imageHost: given.cloudinaryUrl === undefined ? 'local' : 'cloudinary',
    paymentGateway: given.midtransServerKey === undefined ? 'simulator' : 'midtrans',
    midtransServerKey: SIMULATOR_SERVER_KEY,
    ...(areKeysSet ? {} : loadDevelopmentSecrets(given.dataDir)),
  };
}
