import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseCloudinaryUrl } from './cloudinary-url.js';
import { developmentSecrets, type JwtSecrets } from './development-secrets.js';
import { isPublished } from './published-secrets.js';
import { SettingsReader } from './settings-reader.js';

/** Which payment gateway signs the notifications; see the Midtrans documentation for the two base addresses. */
export interface PaymentSetting {
  readonly gateway: 'midtrans' | 'simulator';
  readonly serverKey: string;
  readonly snapUrl: string;
  readonly apiUrl: string;
}

/** Traces are wanted. Where they go, and the other OTEL_ variables, the SDK reads by itself. */
export interface TracingSetting {
  readonly serviceName: string;
}

/** The values that `Env` is made of. */
type Settings = Pick<Env, keyof Env>;

/** Every setting of the service, validated; also the injection token under which modules receive it. */
export class Env {
  readonly nodeEnv!: 'development' | 'production' | 'test';
  /** 0 lets the operating system choose. */
  readonly port!: number;
  readonly host!: string;
  /** Address under which clients reach the service, without a trailing slash. */
  readonly publicUrl!: string;
  readonly logLevel!: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Absolute path. */
  readonly dataDir!: string;
  /** Undefined: the service supervises an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl!: string | undefined;
  readonly jwtAccessSecret!: string;
  readonly jwtRefreshSecret!: string;
  /** The account that is made an administrator at start. */
  readonly admin!: { readonly email: string; readonly password: string } | undefined;
  /** Exact origins that may call with credentials. */
  readonly corsOrigins!: readonly string[];
  /** In development every loopback origin may call as well. */
  readonly corsAllowsLoopback!: boolean;
  /** Proxies whose X-Forwarded-For is believed: their number, or their addresses and networks. */
  readonly trustedProxies!: number | readonly string[];
  /** Where new images go; `local` keeps them under `dataDir`. */
  readonly imageHost!: 'cloudinary' | 'local';
  /** Also needed to remove images that were stored there before IMAGE_HOST changed. */
  readonly cloudinaryUrl!: string | undefined;
  /** Seconds after which an image that was staged but never attached is condemned. */
  readonly stagedImageTtlSeconds!: number;
  /** Most bytes that the serialised product list may take up in memory; 0: every page is read from the database. */
  readonly catalogCacheBytes!: number;
  /** Undefined: mail is written to `dataDir/outbox`. */
  readonly smtpUrl!: string | undefined;
  readonly mailFrom!: string;
  readonly payment!: PaymentSetting;
  /** Where Prometheus finds the metrics, and nothing else; undefined: none are kept. */
  readonly metricsPort!: number | undefined;
  /** Undefined: no traces. */
  readonly tracing!: TracingSetting | undefined;

  constructor(settings: Settings) {
    Object.assign(this, settings);
  }
}

const MEBIBYTE = 1024 * 1024;
const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';
const MIDTRANS_SANDBOX = {
  snapUrl: 'https://app.sandbox.midtrans.com/snap/v1',
  apiUrl: 'https://api.sandbox.midtrans.com',
};

/** Adds the variables of a `.env` file in the working directory; variables that are already set win. */
export function loadDotEnv(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/**
 * Which of a command's options npm took for itself because `--` was missing, as in `npm run seed --products 10`: npm sets
 * `npm_config_products`, and the command does not receive the option.
 */
export function optionsTakenByNpm(names: readonly string[]): string[] {
  return names.filter((name) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined);
}

/**
 * Reads and validates every setting.
 *
 * @throws SettingsError whose one message names every bad variable
 */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const settings = new SettingsReader(source);
  const nodeEnv = settings.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development');
  const production = nodeEnv === 'production';
  const port = settings.integer('PORT', 3000, 0, 65_535);
  const publicUrl = settings.httpUrl('PUBLIC_URL', `http://localhost:${port}`);
  const dataDir = resolve(settings.text('DATA_DIR', '.data'));
  const corsOrigins = settings.origins('CORS_ORIGINS');

  const values: Settings = {
    nodeEnv,
    port,
    host: settings.text('HOST', '0.0.0.0'),
    publicUrl,
    logLevel: settings.oneOf(
      'LOG_LEVEL',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    ),
    dataDir,
    databaseUrl: settings.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    ...jwtSecrets(settings, production),
    admin: adminAccount(settings),
    corsOrigins: corsOrigins ?? [],
    corsAllowsLoopback: corsOrigins === undefined && !production,
    trustedProxies: settings.proxies('TRUSTED_PROXIES'),
    ...images(settings),
    stagedImageTtlSeconds: settings.integer('STAGED_IMAGE_TTL_S', 600, 1, 86_400),
    catalogCacheBytes: settings.integer('CATALOG_CACHE_MB', 64, 0, 4096) * MEBIBYTE,
    smtpUrl: settings.url('SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: settings.text('MAIL_FROM', 'Bakery <no-reply@bakery.example>'),
    payment: payment(settings, production),
    metricsPort: metricsPort(settings, port),
    tracing: tracing(settings),
  };
  if (production) refusePublishedSecrets(settings, values);
  settings.throwIfBad();
  const { jwtAccessSecret, jwtRefreshSecret } = values;
  if (jwtAccessSecret !== '' && jwtRefreshSecret !== '') return new Env(values);
  // Only now, so that a start that is refused leaves no file behind.
  const generated = developmentSecrets(dataDir);
  return new Env({
    ...values,
    jwtAccessSecret: jwtAccessSecret || generated.jwtAccessSecret,
    jwtRefreshSecret: jwtRefreshSecret || generated.jwtRefreshSecret,
  });
}

/** Anybody who has read this repository could sign tokens and notifications, or sign in, with such a secret. */
function refusePublishedSecrets(settings: SettingsReader, values: Settings): void {
  const databaseUrl = values.databaseUrl ?? '';
  const secrets = {
    JWT_ACCESS_SECRET: values.jwtAccessSecret,
    JWT_REFRESH_SECRET: values.jwtRefreshSecret,
    MIDTRANS_SERVER_KEY: settings.text('MIDTRANS_SERVER_KEY', ''),
    ADMIN_PASSWORD: values.admin?.password ?? '',
    DATABASE_URL: URL.canParse(databaseUrl) ? decodeURIComponent(new URL(databaseUrl).password) : '',
  };
  for (const [name, secret] of Object.entries(secrets)) {
    if (isPublished(secret)) settings.bad(name, 'holds a secret that this repository publishes');
  }
}

/** Empty where a development service uses generated ones. */
function jwtSecrets(settings: SettingsReader, production: boolean): JwtSecrets {
  const secrets = {
    jwtAccessSecret: settings.secret('JWT_ACCESS_SECRET', production),
    jwtRefreshSecret: settings.secret('JWT_REFRESH_SECRET', production),
  };
  if (secrets.jwtAccessSecret !== '' && secrets.jwtAccessSecret === secrets.jwtRefreshSecret) {
    settings.bad('JWT_REFRESH_SECRET', 'must differ from JWT_ACCESS_SECRET');
  }
  return secrets;
}

function adminAccount(settings: SettingsReader): Env['admin'] {
  const email = settings.email('ADMIN_EMAIL');
  const password = settings.password('ADMIN_PASSWORD');
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined) settings.bad('ADMIN_EMAIL', 'is required with ADMIN_PASSWORD');
  if (password === undefined) settings.bad('ADMIN_PASSWORD', 'is required with ADMIN_EMAIL');
  if (password !== undefined && password.length > 1024) {
    settings.bad('ADMIN_PASSWORD', 'must have at most 1024 characters');
  }
  return { email: email ?? '', password: password ?? '' };
}

function images(settings: SettingsReader): Pick<Env, 'imageHost' | 'cloudinaryUrl'> {
  const cloudinaryUrl = settings.optional('CLOUDINARY_URL');
  const imageHost = settings.oneOf(
    'IMAGE_HOST',
    ['cloudinary', 'local'],
    cloudinaryUrl === undefined ? 'local' : 'cloudinary',
  );
  if (imageHost === 'cloudinary' && cloudinaryUrl === undefined) {
    settings.bad('CLOUDINARY_URL', 'is required with IMAGE_HOST=cloudinary');
  }
  try {
    if (cloudinaryUrl !== undefined) parseCloudinaryUrl(cloudinaryUrl);
  } catch {
    settings.bad('CLOUDINARY_URL', 'must look like cloudinary://key:secret@cloud');
  }
  return { imageHost, cloudinaryUrl };
}

function payment(settings: SettingsReader, production: boolean): PaymentSetting {
  const serverKey = settings.optional('MIDTRANS_SERVER_KEY');
  const gateway = settings.oneOf(
    'PAYMENT_GATEWAY',
    ['midtrans', 'simulator'],
    serverKey === undefined ? 'simulator' : 'midtrans',
  );
  if (gateway === 'midtrans' && serverKey === undefined) {
    settings.bad('MIDTRANS_SERVER_KEY', 'is required with PAYMENT_GATEWAY=midtrans');
  }
  if (production && gateway === 'simulator') {
    settings.bad(
      'PAYMENT_GATEWAY',
      'must be midtrans in production: the simulator lets anyone pay for nothing',
    );
  }
  return {
    gateway,
    serverKey: serverKey ?? SIMULATOR_SERVER_KEY,
    snapUrl: settings.httpUrl('MIDTRANS_SNAP_URL', MIDTRANS_SANDBOX.snapUrl),
    apiUrl: settings.httpUrl('MIDTRANS_API_URL', MIDTRANS_SANDBOX.apiUrl),
  };
}

function metricsPort(settings: SettingsReader, port: number): number | undefined {
  if (settings.optional('METRICS_PORT') === undefined) return undefined;
  const metricsPort = settings.integer('METRICS_PORT', 0, 1, 65_535);
  if (metricsPort === port)
    settings.bad('METRICS_PORT', 'must differ from PORT: metrics are not for clients');
  return metricsPort;
}

/** @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function tracing(settings: SettingsReader): TracingSetting | undefined {
  const endpoint = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const ofTraces = settings.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']);
  const isDisabled = settings.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (isDisabled || (endpoint ?? ofTraces) === undefined) return undefined;
  return { serviceName: settings.text('OTEL_SERVICE_NAME', 'bakery-catalog-service') };
}
