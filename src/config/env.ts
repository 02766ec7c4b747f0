import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { withVerifiedTls } from './database-url.js';
import { loadDevelopmentSecrets } from './development-secrets.js';
import { type EnvironmentVariables, type Problems, readVariables } from './environment-variables.js';
import { findProductionProblems, findProductionWarnings } from './production-settings.js';
import { splitList } from './setting-rules.js';

const MEBIBYTE = 1024 * 1024;
const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';

/** At least one setting is invalid. The message has a line for each bad variable. */
export class SettingsError extends Error {}

/** Settings of the service, validated. Also the injection token under which modules receive them. */
export class Env {
  readonly nodeEnv = this.variables.NODE_ENV;
  /** 0 lets the operating system choose. */
  readonly port = this.variables.PORT;
  readonly host = this.variables.HOST;
  /** Address under which clients reach the service, without a trailing slash. */
  readonly publicUrl = removeTrailingSlash(this.variables.PUBLIC_URL ?? `http://localhost:${this.port}`);
  readonly logLevel = this.variables.LOG_LEVEL;
  /** Absolute path. */
  readonly dataDir = resolve(this.variables.DATA_DIR);
  /** If undefined, the service supervises an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl = this.variables.DATABASE_URL && withVerifiedTls(this.variables.DATABASE_URL);
  /** Generated under `dataDir` on the first start in development if unset. */
  readonly jwtAccessSecret: string;
  readonly jwtRefreshSecret: string;
  /** Account that becomes an administrator at start. */
  readonly admin = toAdminAccount(this.variables);
  /** Maximum number of refresh tokens that are stored for an account. */
  readonly sessionsPerAccount = this.variables.SESSIONS_PER_ACCOUNT;
  /** `public`: the product list and single products need no access cookie. */
  readonly catalogAccess = this.variables.CATALOG_ACCESS;
  /** Exact origins that may send requests with credentials. */
  readonly corsOrigins = splitList(this.variables.CORS_ORIGINS ?? '');
  /** In development, loopback origins are allowed too. */
  readonly corsAllowsLoopback = this.variables.CORS_ORIGINS === undefined && this.nodeEnv !== 'production';
  /** Number of trusted proxies, or their addresses and networks. Their X-Forwarded-For is trusted. */
  readonly trustedProxies = toTrustedProxies(this.variables.TRUSTED_PROXIES);
  /** Also needed to remove images that were stored there before IMAGE_HOST changed. */
  readonly cloudinaryUrl = this.variables.CLOUDINARY_URL;
  /** Host of new images. `local` stores them under `dataDir`. */
  readonly imageHost =
    this.variables.IMAGE_HOST ?? (this.cloudinaryUrl === undefined ? 'local' : 'cloudinary');
  /** Seconds after which an image that was staged but never attached is condemned. */
  readonly stagedImageTtlSeconds = this.variables.STAGED_IMAGE_TTL_S;
  /** Memory budget for cached pages of the product list. 0 disables the cache. */
  readonly catalogCacheBytes = this.variables.CATALOG_CACHE_MB * MEBIBYTE;
  /** If undefined, mail is written to `dataDir/outbox`. */
  readonly smtpUrl = this.variables.SMTP_URL;
  readonly mailFrom = this.variables.MAIL_FROM;
  readonly payment = toPaymentSetting(this.variables);
  /** Port that serves only Prometheus metrics. If undefined, no metrics are collected. */
  readonly metricsPort = this.variables.METRICS_PORT;
  /** If undefined, tracing is off. OpenTelemetry's SDK reads the endpoint and its other variables itself. */
  readonly tracing = toTracingSetting(this.variables);
  /** Warnings that each start logs. */
  readonly warnings = findProductionWarnings(this.variables);

  /** @param variables validated */
  constructor(private readonly variables: EnvironmentVariables) {
    const { JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh } = variables;
    const generated = access && refresh ? undefined : loadDevelopmentSecrets(this.dataDir);
    this.jwtAccessSecret = access ?? generated?.jwtAccessSecret ?? '';
    this.jwtRefreshSecret = refresh ?? generated?.jwtRefreshSecret ?? '';
  }
}

/** Loads a `.env` file in the working directory. Variables that are already set are not replaced. */
export function loadDotEnv(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
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
 * @throws SettingsError whose message names every bad variable, so that the operator can fix all at once
 */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const { variables, problems } = readVariables(source);
  const all: Problems = {
    ...findContradictions(variables),
    ...(variables.NODE_ENV === 'production' ? findProductionProblems(variables) : {}),
    ...problems,
  };
  const lines = Object.entries(all).map(([name, problem]) => `  ${name} ${problem}`);
  if (lines.length > 0)
    throw new SettingsError(`The service cannot start with these settings:\n${lines.join('\n')}`);
  return new Env(variables);
}

/** Finds variables that contradict each other. */
function findContradictions(variables: EnvironmentVariables): Problems {
  const { ADMIN_EMAIL, ADMIN_PASSWORD, JWT_ACCESS_SECRET, METRICS_PORT, PORT } = variables;
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
  if (METRICS_PORT === PORT) problems.METRICS_PORT = 'must differ from PORT: metrics are not for clients';
  return problems;
}

function toAdminAccount({ ADMIN_EMAIL: email, ADMIN_PASSWORD: password }: EnvironmentVariables) {
  return email === undefined || password === undefined ? undefined : { email, password };
}

function toTrustedProxies(value: string): number | string[] {
  return /^\d$/.test(value) ? Number(value) : splitList(value);
}

/** Payment gateway and its key, which also signs notifications. Midtrans documents the two base addresses. */
export type PaymentSetting = ReturnType<typeof toPaymentSetting>;

function toPaymentSetting(variables: EnvironmentVariables) {
  const serverKey = variables.MIDTRANS_SERVER_KEY;
  return {
    gateway: variables.PAYMENT_GATEWAY ?? (serverKey === undefined ? 'simulator' : 'midtrans'),
    serverKey: serverKey ?? SIMULATOR_SERVER_KEY,
    snapUrl: removeTrailingSlash(variables.MIDTRANS_SNAP_URL),
    apiUrl: removeTrailingSlash(variables.MIDTRANS_API_URL),
  } as const;
}

function toTracingSetting(variables: EnvironmentVariables): { serviceName: string } | undefined {
  const endpoint = variables.OTEL_EXPORTER_OTLP_ENDPOINT ?? variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (endpoint === undefined || variables.OTEL_SDK_DISABLED.toLowerCase() === 'true') return undefined;
  return { serviceName: variables.OTEL_SERVICE_NAME };
}

function removeTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
