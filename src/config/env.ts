import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseCloudinaryUrl } from './cloudinary-url.js';
import { developmentSecrets } from './development-secrets.js';
import { isPublished } from './published-secrets.js';
import { SettingsReader } from './settings-reader.js';

const MEBIBYTE = 1024 * 1024;
const SIMULATOR_SERVER_KEY = 'SB-Mid-server-local';
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Every setting of the service, validated; also the injection token under which modules receive it. */
export class Env extends SettingsReader {
  readonly nodeEnv = this.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development');
  /** 0 lets the operating system choose. */
  readonly port = this.integer('PORT', 3000, 0, 65_535);
  readonly host = this.text('HOST', '0.0.0.0');
  /** Address under which clients reach the service, without a trailing slash. */
  readonly publicUrl = this.httpUrl('PUBLIC_URL', `http://localhost:${this.port}`);
  readonly logLevel = this.oneOf('LOG_LEVEL', LOG_LEVELS, 'info');
  /** Absolute path. */
  readonly dataDir = resolve(this.text('DATA_DIR', '.data'));
  /** Undefined: the service supervises an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl = this.url('DATABASE_URL', ['postgres:', 'postgresql:']);
  /** Unset, those of a development service are generated. */
  readonly jwtAccessSecret = this.secret('JWT_ACCESS_SECRET');
  readonly jwtRefreshSecret = this.secret('JWT_REFRESH_SECRET');
  /** The account that is made an administrator at start. */
  readonly admin = adminAccount(this);
  /** Exact origins that may call with credentials. */
  readonly corsOrigins = this.origins('CORS_ORIGINS');
  /** In development every loopback origin may call as well. */
  readonly corsAllowsLoopback = this.optional('CORS_ORIGINS') === undefined && this.nodeEnv !== 'production';
  /** Proxies whose X-Forwarded-For is believed: their number, or their addresses and networks. */
  readonly trustedProxies = this.proxies('TRUSTED_PROXIES');
  /** Also needed to remove images that were stored there before IMAGE_HOST changed. */
  readonly cloudinaryUrl = this.optional('CLOUDINARY_URL');
  /** Where new images go; `local` keeps them under `dataDir`. */
  readonly imageHost = this.oneOf(
    'IMAGE_HOST',
    ['cloudinary', 'local'],
    this.cloudinaryUrl === undefined ? 'local' : 'cloudinary',
  );
  /** Seconds after which an image that was staged but never attached is condemned. */
  readonly stagedImageTtlSeconds = this.integer('STAGED_IMAGE_TTL_S', 600, 1, 86_400);
  /** Most bytes that the serialised product list may take up in memory; 0: every page is read from the database. */
  readonly catalogCacheBytes = this.integer('CATALOG_CACHE_MB', 64, 0, 4096) * MEBIBYTE;
  /** Undefined: mail is written to `dataDir/outbox`. */
  readonly smtpUrl = this.url('SMTP_URL', ['smtp:', 'smtps:']);
  readonly mailFrom = this.sender('MAIL_FROM', 'Bakery <no-reply@bakery.example>');
  readonly payment = payment(this);
  /** Where Prometheus finds the metrics, and nothing else; undefined: none are kept. */
  readonly metricsPort = this.integer('METRICS_PORT', undefined, 1, 65_535);
  /** Undefined: no traces. Where they go, and the other OTEL_ variables, the SDK reads by itself. */
  readonly tracing = tracing(this);

  /** @throws SettingsError whose one message names every bad variable */
  constructor(source: NodeJS.ProcessEnv) {
    super(source);
    if (this.jwtAccessSecret !== '' && this.jwtAccessSecret === this.jwtRefreshSecret)
      this.bad('JWT_REFRESH_SECRET', 'must differ from JWT_ACCESS_SECRET');
    if (this.imageHost === 'cloudinary' && this.cloudinaryUrl === undefined)
      this.bad('CLOUDINARY_URL', 'is required with IMAGE_HOST=cloudinary');
    try {
      if (this.cloudinaryUrl !== undefined) parseCloudinaryUrl(this.cloudinaryUrl);
    } catch {
      this.bad('CLOUDINARY_URL', 'must look like cloudinary://key:secret@cloud');
    }
    if (this.metricsPort === this.port)
      this.bad('METRICS_PORT', 'must differ from PORT: metrics are not for clients');
    if (this.nodeEnv === 'production') checkProduction(this);
    this.throwIfBad();
    if (this.jwtAccessSecret !== '' && this.jwtRefreshSecret !== '') return;
    // Only now, so that a start that is refused leaves no file behind.
    const generated = developmentSecrets(this.dataDir);
    this.jwtAccessSecret ||= generated.jwtAccessSecret;
    this.jwtRefreshSecret ||= generated.jwtRefreshSecret;
  }
}

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
 * @throws SettingsError whose one message names every bad variable
 */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  return new Env(source);
}

function adminAccount(settings: SettingsReader): { email: string; password: string } | undefined {
  const email = settings.email('ADMIN_EMAIL');
  const password = settings.password('ADMIN_PASSWORD');
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined) settings.bad('ADMIN_EMAIL', 'is required with ADMIN_PASSWORD');
  if (password === undefined) settings.bad('ADMIN_PASSWORD', 'is required with ADMIN_EMAIL');
  if (password !== undefined && password.length > 1024)
    settings.bad('ADMIN_PASSWORD', 'must have at most 1024 characters');
  return { email: email ?? '', password: password ?? '' };
}

/** Which payment gateway signs the notifications; see the Midtrans documentation for the two base addresses. */
export type PaymentSetting = ReturnType<typeof payment>;

function payment(settings: SettingsReader) {
  const serverKey = settings.optional('MIDTRANS_SERVER_KEY');
  const usual = serverKey === undefined ? 'simulator' : 'midtrans';
  const gateway = settings.oneOf('PAYMENT_GATEWAY', ['midtrans', 'simulator'], usual);
  if (gateway === 'midtrans' && serverKey === undefined)
    settings.bad('MIDTRANS_SERVER_KEY', 'is required with PAYMENT_GATEWAY=midtrans');
  return {
    gateway,
    serverKey: serverKey ?? SIMULATOR_SERVER_KEY,
    snapUrl: settings.httpUrl('MIDTRANS_SNAP_URL', 'https://app.sandbox.midtrans.com/snap/v1'),
    apiUrl: settings.httpUrl('MIDTRANS_API_URL', 'https://api.sandbox.midtrans.com'),
  };
}

/** @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function tracing(settings: SettingsReader): { serviceName: string } | undefined {
  const endpoint = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const ofTraces = settings.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']);
  const isDisabled = settings.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (isDisabled || (endpoint ?? ofTraces) === undefined) return undefined;
  return { serviceName: settings.text('OTEL_SERVICE_NAME', 'bakery-catalog-service') };
}

/** What development may have and production may not. */
function checkProduction(env: Env): void {
  const published = 'holds a secret that this repository publishes';
  // Anybody who has read this repository could sign tokens and notifications, or sign in, with such a secret.
  for (const name of ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET', 'MIDTRANS_SERVER_KEY', 'ADMIN_PASSWORD'])
    if (isPublished(env.text(name, ''))) env.bad(name, published);
  const { databaseUrl = '' } = env;
  if (URL.canParse(databaseUrl) && isPublished(new URL(databaseUrl).password))
    env.bad('DATABASE_URL', published);
  if (env.jwtAccessSecret === '') env.bad('JWT_ACCESS_SECRET', 'is required in production');
  if (env.jwtRefreshSecret === '') env.bad('JWT_REFRESH_SECRET', 'is required in production');
  if (env.payment.gateway === 'simulator')
    env.bad('PAYMENT_GATEWAY', 'must be midtrans in production: the simulator lets anyone pay for nothing');
}
