import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadDevelopmentSecrets } from './development-secrets.js';
import { type EnvironmentVariables, readVariables } from './environment-variables.js';
import { findContradictions, findProductionProblems } from './setting-checks.js';
import { splitList } from './setting-rules.js';

const MEBIBYTE = 1024 * 1024;
const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';

/** Consequence of each variable that is unset in production. */
const EFFECTS_OF_UNSET = [
  ['SMTP_URL', 'mail is written to DATA_DIR/outbox and sent to nobody'],
  ['PUBLIC_URL', 'image URLs and links in mails begin with http://localhost'],
  ['CORS_ORIGINS', 'storefronts on other origins cannot use the service'],
] as const;

/** Settings of the service, validated. Also the injection token under which modules receive them. */
export class Env {
  readonly nodeEnv = this.variables.NODE_ENV;
  /** 0 lets the operating system choose. */
  readonly port = this.variables.PORT;
  readonly host = this.variables.HOST;
  /** Address under which clients reach the service, without a trailing slash. */
  readonly publicUrl = this.variables.PUBLIC_URL ?? `http://localhost:${this.port}`;
  readonly logLevel = this.variables.LOG_LEVEL;
  readonly dataDir = resolve(this.variables.DATA_DIR);
  /** If undefined, the service supervises an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl = this.variables.DATABASE_URL && withVerifiedTls(this.variables.DATABASE_URL);
  /** Generated under `dataDir` on the first start in development if unset. */
  readonly jwtAccessSecret: string;
  readonly jwtRefreshSecret: string;
  /** Administrator's account, created at the start. */
  readonly admin = toAdminAccount(this.variables);
  readonly sessionsPerAccount = this.variables.SESSIONS_PER_ACCOUNT;
  readonly catalogAccess = this.variables.CATALOG_ACCESS;
  readonly corsOrigins = splitList(this.variables.CORS_ORIGINS ?? '');
  /** True if storefronts on this machine may use the service, on any port. */
  readonly corsAllowsLoopback = this.variables.CORS_ORIGINS === undefined && this.nodeEnv !== 'production';
  /** Number of trusted proxies, or their addresses and networks. Their X-Forwarded-For is trusted. */
  readonly trustedProxies = /^\d$/.test(this.variables.TRUSTED_PROXIES)
    ? Number(this.variables.TRUSTED_PROXIES)
    : splitList(this.variables.TRUSTED_PROXIES);
  /** Account at Cloudinary. Still needed after IMAGE_HOST has changed, to remove older images. */
  readonly cloudinaryUrl = this.variables.CLOUDINARY_URL;
  /** Host of new images. `local` stores them under `dataDir`. */
  readonly imageHost = this.variables.IMAGE_HOST ?? (this.cloudinaryUrl ? 'cloudinary' : 'local');
  readonly stagedImageTtlSeconds = this.variables.STAGED_IMAGE_TTL_S;
  /** 0 disables the cache. */
  readonly catalogCacheBytes = this.variables.CATALOG_CACHE_MB * MEBIBYTE;
  /** If undefined, mail is written to `dataDir/outbox`. */
  readonly smtpUrl = this.variables.SMTP_URL;
  readonly mailFrom = this.variables.MAIL_FROM;
  /** Payment gateway and its key, which also signs notifications. Base addresses: see Midtrans's documentation. */
  readonly payment = {
    gateway: this.variables.gateway,
    serverKey: this.variables.MIDTRANS_SERVER_KEY ?? SIMULATOR_SERVER_KEY,
    snapUrl: this.variables.MIDTRANS_SNAP_URL,
    apiUrl: this.variables.MIDTRANS_API_URL,
  } as const;
  /** If undefined, no metrics are collected. */
  readonly metricsPort = this.variables.METRICS_PORT;
  /** If undefined, tracing is off. OpenTelemetry's SDK reads the endpoint and its other variables itself. */
  readonly tracing = toTracingSetting(this.variables);
  readonly warnings = EFFECTS_OF_UNSET.filter(
    ([name]) => this.nodeEnv === 'production' && this.variables[name] === undefined,
  ).map(([name, effect]) => `${name} is unset: ${effect}`);

  constructor(private readonly variables: EnvironmentVariables) {
    const { JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh } = variables;
    const generated = access && refresh ? undefined : loadDevelopmentSecrets(this.dataDir);
    this.jwtAccessSecret = access ?? generated?.jwtAccessSecret ?? '';
    this.jwtRefreshSecret = refresh ?? generated?.jwtRefreshSecret ?? '';
  }
}

/**
 * Returns the options that npm consumed because `--` was missing. For `npm run seed --products 10`, npm sets
 * `npm_config_products` and does not pass the option to the command.
 */
export function findOptionsTakenByNpm(names: readonly string[]): string[] {
  return names.filter((name) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined);
}

/**
 * Reads and validates every setting.
 * @throws Error whose message names every bad variable, so that the operator can fix all at once
 */
export function readEnv(source = loadProcessEnv()): Env {
  const { variables, problems } = readVariables(source);
  const forProduction = variables.NODE_ENV === 'production' ? findProductionProblems(variables) : {};
  const all = Object.entries({ ...findContradictions(variables), ...forProduction, ...problems });
  if (all.length === 0) return new Env(variables);
  const lines = all.map(([name, problem]) => `  ${name} ${problem}`);
  throw new Error(`The service cannot start with these settings:\n${lines.join('\n')}`);
}

/** Loads a `.env` file in the working directory. Variables that are already set are not replaced. */
function loadProcessEnv(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

function toAdminAccount({ ADMIN_EMAIL: email, ADMIN_PASSWORD: password }: EnvironmentVariables) {
  return email === undefined || password === undefined ? undefined : { email, password };
}

/**
 * Replaces a weaker `sslmode` with `verify-full`. The driver already treats `prefer`, `require` and `verify-ca` like
 * `verify-full`, but prints a security warning. A regular expression, because `URL` would encode the password differently.
 */
function withVerifiedTls(url: string): string {
  // The operator has chosen libpq's meaning of `sslmode`.
  if (/[?&]uselibpqcompat=true(&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

function toTracingSetting(variables: EnvironmentVariables): { serviceName: string } | undefined {
  const endpoint = variables.OTEL_EXPORTER_OTLP_ENDPOINT ?? variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (endpoint === undefined || variables.OTEL_SDK_DISABLED.toLowerCase() === 'true') return undefined;
  return { serviceName: variables.OTEL_SERVICE_NAME };
}
