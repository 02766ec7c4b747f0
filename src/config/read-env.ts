import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { errorMessage } from '../common/errors/error-info.js';
import { createDataDir, writeOnce } from '../common/files.js';
import { Env, type ParsedSettings, type Problems } from './env.js';
import { findProductionProblems, findProductionWarnings } from './production-checks.js';

const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';

const rules = getMetadataStorage().getTargetValidationMetadatas(Env, '', false, false);
/** Name of the environment variable of each setting. The variable of `midtransSnapUrl` is `MIDTRANS_SNAP_URL`. */
export const VARIABLES = new Map(
  rules.map(({ propertyName: name }) => [name, name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()]),
);

/**
 * Reads and validates every setting. In development without signing keys, generates keys in DATA_DIR once.
 * @throws Error that names every bad variable, so that the operator can fix all at once
 */
export function readEnv(source = loadProcessEnv()): Env {
  const parsed = parseVariables(source);
  const isProduction = parsed.nodeEnv === 'production';
  const invalid = validateSync(parsed, { skipMissingProperties: true });
  // Later entries win: an invalid value is reported instead of a contradiction.
  const problems = new Map([
    ...Object.entries(findContradictions(parsed)),
    ...Object.entries(isProduction ? findProductionProblems(parsed) : {}),
    ...invalid.map(({ property, constraints = {} }) => [property, Object.values(constraints)[0]] as const),
  ]);
  const lines = [...problems].map(([name, problem]) => `  ${VARIABLES.get(name)} ${problem}`);
  if (lines.length > 0) throw new Error(`The service cannot start with these settings:\n${lines.join('\n')}`);
  const warnings = [...findTypos(source), ...(isProduction ? findProductionWarnings(parsed) : [])];
  return Object.assign(new Env(), deriveDefaults(parsed), parsed, { warnings });
}

/** Finds an option that npm consumed because `--` was missing: `npm run seed --products 10` sets `npm_config_products`. */
export function findOptionTakenByNpm(names: readonly string[]): string | undefined {
  return names.find((name) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined);
}

/** Loads a `.env` file in the working directory. Variables that are already set are not replaced. */
function loadProcessEnv(): NodeJS.ProcessEnv {
  try {
    // Not `existsSync`, which is false for a link to a missing file: the service would start without its settings.
    if (lstatSync('.env', { throwIfNoEntry: false }) === undefined) return process.env;
    process.loadEnvFile('.env');
  } catch (error) {
    throw new Error(`the settings in .env cannot be read: ${errorMessage(error)}`, { cause: error });
  }
  return process.env;
}

/** Parses the variables. An empty variable counts as unset, like `NAME=` in a Compose file. */
function parseVariables(source: NodeJS.ProcessEnv): ParsedSettings {
  const texts: Record<string, string> = {};
  for (const [name, variable] of VARIABLES) {
    const text = source[variable] ?? '';
    // Spaces around a password are part of the password.
    if (text.trim() !== '') texts[name] = name === 'adminPassword' ? text : text.trim();
  }
  return plainToInstance(Env, texts);
}

function findContradictions(parsed: ParsedSettings): Problems {
  const { adminEmail, adminPassword, jwtAccessSecret } = parsed;
  const problems: Problems = {};
  if (adminEmail === undefined && adminPassword !== undefined)
    problems.adminEmail = 'is required with ADMIN_PASSWORD';
  if (adminPassword === undefined && adminEmail !== undefined)
    problems.adminPassword = 'is required with ADMIN_EMAIL';
  if (jwtAccessSecret !== undefined && jwtAccessSecret === parsed.jwtRefreshSecret)
    problems.jwtRefreshSecret = 'must differ from JWT_ACCESS_SECRET';
  if (parsed.imageHost === 'cloudinary' && parsed.cloudinaryUrl === undefined)
    problems.cloudinaryUrl = 'is required with IMAGE_HOST=cloudinary';
  if (parsed.paymentGateway === 'midtrans' && parsed.midtransServerKey === undefined)
    problems.midtransServerKey = 'is required with PAYMENT_GATEWAY=midtrans';
  if (parsed.metricsPort === parsed.port)
    problems.metricsPort = 'must differ from PORT: metrics are not for clients';
  return problems;
}

/** Finds variables whose name is probably a misspelled name of a setting. */
function findTypos(source: NodeJS.ProcessEnv): string[] {
  const settings = [...VARIABLES.values()];
  const unknown = Object.keys(source).filter((name) => !settings.includes(name));
  return unknown.flatMap((name) => {
    // Names without an underscore, such as PORT and HOST, would match by accident.
    const similar = settings.find((setting) => setting.includes('_') && isTypo(name, setting));
    return similar === undefined
      ? []
      : [`${name} is not a setting and has no effect: did you mean ${similar}?`];
  });
}

/** Returns true if one letter is missing, extra or different, or if two neighbors are swapped. */
function isTypo(text: string, name: string): boolean {
  let start = 0;
  while (start < name.length && text[start] === name[start]) start += 1;
  const [a, b] = [text.slice(start), name.slice(start)];
  const isSwapped = a === b.slice(1, 2) + b.slice(0, 1) + b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}

function deriveDefaults(parsed: ParsedSettings): Partial<Env> {
  const areBothKeysSet = parsed.jwtAccessSecret !== undefined && parsed.jwtRefreshSecret !== undefined;
  return {
    publicUrl: `http://localhost:${parsed.port}`,
    imageHost: parsed.cloudinaryUrl === undefined ? 'local' : 'cloudinary',
    paymentGateway: parsed.midtransServerKey === undefined ? 'simulator' : 'midtrans',
    midtransServerKey: SIMULATOR_SERVER_KEY,
    ...(areBothKeysSet ? {} : loadSigningKeys(parsed.dataDir)),
  };
}

/**
 * Reads the signing keys of a development service from `DATA_DIR/development-secrets.json`, so that sessions survive a
 * restart. The first start generates the keys.
 */
function loadSigningKeys(dataDir: string) {
  const file = join(dataDir, 'development-secrets.json');
  const generateKey = () => randomBytes(48).toString('base64url');
  const generated = { jwtAccessSecret: generateKey(), jwtRefreshSecret: generateKey() };
  createDataDir(dataDir);
  const stored = writeOnce(file, `${JSON.stringify(generated, null, 2)}\n`, 0o600);
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(stored) as Partial<Record<string, string>>;
    if (jwtAccessSecret && jwtRefreshSecret) return { jwtAccessSecret, jwtRefreshSecret };
  } catch {
    // Ignore the parser's error, because its message quotes the file with the keys.
  }
  throw new Error(
    `${file} does not contain the development keys; delete the file, and the next start generates new keys`,
  );
}
