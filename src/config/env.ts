import { resolve } from 'node:path';
import { Transform } from 'class-transformer';
import { IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { ConvertDomainToAscii, IsUndisguisedEmail } from '../common/validation/email-address.decorator.js';
import { MaxCharacters, STORABLE } from '../common/validation/text.decorator.js';
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

const EMAIL = { message: 'must be an email address' };
const PASSWORD = { message: 'must have at most 1024 characters' };
const STORABLE_PASSWORD = { message: 'contains a character that was lost: save the settings as UTF-8' };
const SIGNING_KEY = { message: 'must have at least 32 characters' };

/**
 * Settings of the service. Also the injection token under which modules receive them. Each decorated property contains the
 * environment variable of its name, such as DATA_DIR in `dataDir`. Its decorator validates the text and converts it.
 */
export class Env {
  @IsOneOf('development', 'production', 'test') nodeEnv: 'development' | 'production' | 'test' =
    'development';
  /** 0 lets the operating system choose. */
  @IsWholeNumber(0, 65_535) port = 3000;
  @IsString() host = '0.0.0.0';
  /** Address under which clients reach the service, without a trailing slash. */
  @IsHttpAddress() publicUrl!: string;
  @IsOneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent') logLevel = 'info';
  @IsString() @Transform(({ value }) => resolve(String(value))) dataDir = resolve('.data');
  /** Folder of scheduled backups. If undefined, the age of the newest backup is not measured. */
  @IsString() @Transform(({ value }) => resolve(String(value))) backupDir?: string;
  /** If undefined, the service supervises an embedded PostgreSQL under `dataDir`. */
  @IsDatabaseUrl() databaseUrl?: string;
  @MinLength(32, SIGNING_KEY) jwtAccessSecret!: string;
  @MinLength(32, SIGNING_KEY) jwtRefreshSecret!: string;
  /** Address and password of the administrator's account, which is created at the start. Both are set or neither. */
  @ConvertDomainToAscii()
  @IsUndisguisedEmail(EMAIL)
  @MaxLength(254, EMAIL)
  adminEmail?: string;
  @Matches(STORABLE, STORABLE_PASSWORD) @MaxCharacters(1024, PASSWORD) adminPassword?: string;
  /** Origins of storefronts. If undefined outside of production, storefronts on this machine may use the service. */
  @IsOriginList() corsOrigins?: readonly string[];
  /** Number of proxies whose X-Forwarded-For is trusted, or their addresses and networks, separated by commas. */
  @IsProxyList() trustedProxies: number | string = 0;
  /** Account at Cloudinary. Still needed after `imageHost` has changed, to remove older images. */
  @IsCloudinaryUrl() cloudinaryUrl?: string;
  @IsWholeNumber(1, 20) sessionsPerAccount = 1;
  @IsOneOf('user', 'public') catalogAccess: 'user' | 'public' = 'user';
  /** Host of new images. `local` stores them under `dataDir`. */
  @IsOneOf('cloudinary', 'local') imageHost!: 'cloudinary' | 'local';
  @IsWholeNumber(1, 86_400) stagedImageTtlS = 600;
  /** Size of the cache in units of 2^20 bytes. 0 disables the cache. */
  @IsWholeNumber(0, 4096) catalogCacheMb = 64;
  /** If undefined, mail is written to `dataDir/outbox`. */
  @IsUrl('smtp', 'smtps') smtpUrl?: string;
  @IsSender() mailFrom = 'Bakery <no-reply@bakery.example>';
  @IsOneOf('midtrans', 'simulator') paymentGateway!: 'midtrans' | 'simulator';
  /** Key for calls to the payment gateway and for the signatures of its notifications. */
  @IsString() midtransServerKey!: string;
  @IsHttpAddress() midtransSnapUrl = 'https://app.sandbox.midtrans.com/snap/v1';
  @IsHttpAddress() midtransApiUrl = 'https://api.sandbox.midtrans.com';
  /** If undefined, no metrics are served. */
  @IsWholeNumber(1, 65_535) metricsPort?: number;
  @IsString() metricsHost = '127.0.0.1';
  // OpenTelemetry's SDK reads these and its other variables itself:
  // https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
  @IsUrl('http', 'https') otelExporterOtlpEndpoint?: string;
  @IsUrl('http', 'https') otelExporterOtlpTracesEndpoint?: string;
  @IsString() otelSdkDisabled = 'false';
  @IsString() otelServiceName = 'bakery-catalog-service';
  /** Texts about settings that are probably mistakes. Each begins with the variable. */
  warnings: readonly string[] = [];

  get isTraced(): boolean {
    const endpoint = this.otelExporterOtlpEndpoint ?? this.otelExporterOtlpTracesEndpoint;
    return endpoint !== undefined && this.otelSdkDisabled.toLowerCase() !== 'true';
  }
}

/** Settings whose default values come from `readEnv`, not from this class. */
type Derived =
  'publicUrl' | 'imageHost' | 'paymentGateway' | 'midtransServerKey' | 'jwtAccessSecret' | 'jwtRefreshSecret';

/** Settings before `readEnv` adds these default values. Contains fixed defaults, such as that of PORT. */
export type ParsedSettings = Omit<Env, Derived> & Partial<Pick<Env, Derived>>;

/** Problem of each bad setting, shown after its variable. */
export type Problems = Partial<Record<keyof Env, string>>;
