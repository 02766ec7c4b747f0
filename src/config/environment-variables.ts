import { plainToInstance } from 'class-transformer';
import { IsEmail, IsString, MaxLength, MinLength, validateSync } from 'class-validator';
import { AsciiDomain } from './ascii-domain.js';
import {
  IsCloudinaryUrl,
  IsDatabaseUrl,
  IsHttpAddress,
  IsOneOf,
  IsOriginList,
  IsProxyList,
  IsSender,
  IsUrl,
  IsWholeNumber,
} from './setting-rules.js';

type NodeEnv = 'development' | 'production' | 'test';

const EMAIL = { message: 'must be an e-mail address' };
const PASSWORD = { message: 'must have at most 1024 characters' };
const SIGNING_KEY = { message: 'must have at least 32 characters' };

/** Environment variables of the service, under their own names, with their defaults. */
export class EnvironmentVariables {
  @IsOneOf('development', 'production', 'test') NODE_ENV: NodeEnv = 'development';
  @IsWholeNumber(0, 65_535) PORT = 3000;
  @IsString() HOST = '0.0.0.0';
  @IsHttpAddress() PUBLIC_URL?: string;
  @IsOneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') LOG_LEVEL = 'info';
  @IsString() DATA_DIR = '.data';
  @IsDatabaseUrl() DATABASE_URL?: string;
  @MinLength(32, SIGNING_KEY) JWT_ACCESS_SECRET?: string;
  @MinLength(32, SIGNING_KEY) JWT_REFRESH_SECRET?: string;
  @AsciiDomain() @IsEmail({}, EMAIL) @MaxLength(254, EMAIL) ADMIN_EMAIL?: string;
  @MaxLength(1024, PASSWORD) ADMIN_PASSWORD?: string;
  @IsOriginList() CORS_ORIGINS?: string;
  @IsProxyList() TRUSTED_PROXIES = '0';
  @IsCloudinaryUrl() CLOUDINARY_URL?: string;
  @IsWholeNumber(1, 20) SESSIONS_PER_ACCOUNT = 1;
  @IsOneOf('user', 'public') CATALOG_ACCESS: 'user' | 'public' = 'user';
  @IsOneOf('cloudinary', 'local') IMAGE_HOST?: 'cloudinary' | 'local';
  @IsWholeNumber(1, 86_400) STAGED_IMAGE_TTL_S = 600;
  @IsWholeNumber(0, 4096) CATALOG_CACHE_MB = 64;
  @IsUrl('smtp', 'smtps') SMTP_URL?: string;
  @IsSender() MAIL_FROM = 'Bakery <no-reply@bakery.example>';
  @IsOneOf('midtrans', 'simulator') PAYMENT_GATEWAY?: 'midtrans' | 'simulator';
  @IsString() MIDTRANS_SERVER_KEY?: string;
  @IsHttpAddress() MIDTRANS_SNAP_URL = 'https://app.sandbox.midtrans.com/snap/v1';
  @IsHttpAddress() MIDTRANS_API_URL = 'https://api.sandbox.midtrans.com';
  @IsWholeNumber(1, 65_535) METRICS_PORT?: number;
  // https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
  @IsUrl('http', 'https') OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  @IsUrl('http', 'https') OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  @IsString() OTEL_SDK_DISABLED = 'false';
  @IsString() OTEL_SERVICE_NAME = 'bakery-catalog-service';

  get gateway(): 'midtrans' | 'simulator' {
    return this.PAYMENT_GATEWAY ?? (this.MIDTRANS_SERVER_KEY === undefined ? 'simulator' : 'midtrans');
  }
}

export type VariableName = Exclude<keyof EnvironmentVariables, 'gateway'>;

/** Problem of each bad variable. The message prints the problem after the variable's name. */
export type Problems = Partial<Record<VariableName, string>>;

/** Reads and validates the variables. An empty variable counts as unset, like `NAME=` in a Compose file. */
export function readVariables(source: NodeJS.ProcessEnv) {
  const isSet = ([, value]: [string, string | undefined]) => value !== undefined && value.trim() !== '';
  // Spaces around a password are part of the password.
  const entries = Object.entries(source)
    .filter(isSet)
    .map(([name, value]) => [name, name === 'ADMIN_PASSWORD' ? value : value?.trim()] as const);
  const variables = plainToInstance(EnvironmentVariables, Object.fromEntries(entries));
  const errors = validateSync(variables, { skipMissingProperties: true, whitelist: true });
  const problems = errors.map(({ property, constraints = {} }) => [property, Object.values(constraints)[0]]);
  return { variables, problems: Object.fromEntries(problems) as Problems };
}
