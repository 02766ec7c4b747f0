import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '../src/config/env.js';
import { SettingsError } from '../src/config/settings-reader.js';

const LONG = randomBytes(32).toString('hex');
const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_ACCESS_SECRET: LONG,
  JWT_REFRESH_SECRET: randomBytes(32).toString('hex'),
  MIDTRANS_SERVER_KEY: randomBytes(12).toString('hex'),
  ADMIN_EMAIL: 'owner@example.com',
  ADMIN_PASSWORD: randomBytes(12).toString('hex'),
  DATABASE_URL: 'postgresql://shop:a-password-of-its-own@db.example/shop',
};

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bakery-settings-'));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

function read(settings: Record<string, string>) {
  return readEnv({ DATA_DIR: dataDir, ...settings });
}

/** The variables that the one message names, sorted. */
function badOnes(settings: Record<string, string>): string[] {
  const message = messageOf(settings);
  return message
    .split('\n')
    .slice(1)
    .map((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? line)
    .sort();
}

function messageOf(settings: Record<string, string>): string {
  try {
    read(settings);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
  return '';
}

describe('the settings', () => {
  it('nothing set gives the documented defaults', () => {
    expect(read({})).toMatchObject({
      nodeEnv: 'development',
      port: 3000,
      host: '0.0.0.0',
      publicUrl: 'http://localhost:3000',
      logLevel: 'info',
      dataDir,
      databaseUrl: undefined,
      admin: undefined,
      corsOrigins: [],
      corsAllowsLoopback: true,
      trustedProxies: 0,
      imageHost: 'local',
      stagedImageTtlSeconds: 600,
      catalogCacheBytes: 64 * 1024 * 1024,
      smtpUrl: undefined,
      metricsPort: undefined,
      tracing: undefined,
      payment: { gateway: 'simulator', serverKey: 'SB-Mid-server-local' },
    });
  });

  it('metrics and traces are off until they are asked for, and bad settings of theirs are named', () => {
    expect(read({ METRICS_PORT: '9464' }).metricsPort).toBe(9464);
    expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }).tracing).toEqual({
      serviceName: 'bakery-catalog-service',
    });
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(read({ ...endpoint, OTEL_SERVICE_NAME: 'shop' }).tracing).toEqual({ serviceName: 'shop' });
    expect(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracing).toBeUndefined();
    expect(badOnes({ METRICS_PORT: '3000' })).toEqual(['METRICS_PORT']);
    const bad = {
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    };
    expect(badOnes(bad)).toEqual(Object.keys(bad));
  });

  it('an empty variable counts as unset', () => {
    expect(read({ PORT: '', DATABASE_URL: ' ', ADMIN_EMAIL: '', ADMIN_PASSWORD: '' })).toEqual(read({}));
  });

  it('image host, gateway and PUBLIC_URL follow the variables that name them', () => {
    const cloud = { CLOUDINARY_URL: 'cloudinary://key:secret@cloud' };
    expect(read({ ...cloud, MIDTRANS_SERVER_KEY: 'SB-Mid-server-x', PORT: '8080' })).toMatchObject({
      imageHost: 'cloudinary',
      payment: { gateway: 'midtrans', serverKey: 'SB-Mid-server-x' },
      publicUrl: 'http://localhost:8080',
    });
    expect(read({ ...cloud, IMAGE_HOST: 'local' }).imageHost).toBe('local');
    expect(read({ PUBLIC_URL: 'https://bakery.example/' }).publicUrl).toBe('https://bakery.example');
    for (const MAIL_FROM of ['shop@localhost', 'Toko, Roti <shop@bakery.example>'])
      expect(read({ MAIL_FROM }).mailFrom).toBe(MAIL_FROM);
  });

  it.each([
    ['1', 1],
    ['9', 9],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['127.0.0.1, fd00::/8,::1', ['127.0.0.1', 'fd00::/8', '::1']],
  ])('TRUSTED_PROXIES takes %s', (value, proxies) => {
    expect(read({ TRUSTED_PROXIES: value }).trustedProxies).toEqual(proxies);
  });

  it('one message names every bad variable and shows no value', () => {
    const bad = {
      NODE_ENV: 'staging-value',
      PORT: '70000',
      PUBLIC_URL: 'ftp://public-value',
      LOG_LEVEL: 'loud-value',
      DATABASE_URL: 'mysql://user:db-password-value@host/db',
      JWT_ACCESS_SECRET: 'short-value',
      JWT_REFRESH_SECRET: 'short-value',
      ADMIN_EMAIL: 'email-value',
      CORS_ORIGINS: 'https://shop-value.example/path',
      IMAGE_HOST: 'dropbox-value',
      CLOUDINARY_URL: 'https://cloud-value',
      SMTP_URL: 'http://user:smtp-password-value@host',
      PAYMENT_GATEWAY: 'stripe-value',
      MIDTRANS_SNAP_URL: 'snap-value',
      MIDTRANS_API_URL: 'api-value',
      STAGED_IMAGE_TTL_S: '0',
      TRUSTED_PROXIES: 'proxy-value',
      CATALOG_CACHE_MB: 'cache-value',
    };
    expect(badOnes(bad)).toEqual([...Object.keys(bad), 'ADMIN_PASSWORD'].sort());
    expect(messageOf(bad)).not.toMatch(/-value|70000/);
  });

  it.each([
    ['PORT', ['-1', '65536', '0x50']],
    ['CATALOG_CACHE_MB', ['-1', '1.5', '4097']],
    ['STAGED_IMAGE_TTL_S', ['0', '86401', 'ten']],
    ['TRUSTED_PROXIES', ['10', 'true', 'proxy.example', '10.0.0.0/33', '10.0.0.0/0', '::/0', '10.0.0.1,']],
    ['PUBLIC_URL', ['ftp://a.example', 'javascript:alert(1)', 'http:a', 'http://a.example/?b', 'http://a@b']],
    ['DATABASE_URL', ['localhost:5432', 'mysql://localhost/db', 'postgresql://shop:100%@localhost/db']],
    ['SMTP_URL', ['mail.example', 'imap://mail.example', 'smtp:mail.example']],
    ['MAIL_FROM', ['Bakery', 'shop@bakery.example, owner@bakery.example', 'Bakery <shop>']],
    ['LOG_LEVEL', ['INFO', 'warning']],
    ['CORS_ORIGINS', ['*', 'null', 'shop.example', 'https://shop.example/', 'https://*.shop.example']],
    ['JWT_ACCESS_SECRET', ['x'.repeat(31)]],
    ['IMAGE_HOST', ['Local']],
  ])('%s refuses %j', (name, values) => {
    for (const value of values) expect([value, badOnes({ [name]: value })]).toEqual([value, [name]]);
  });

  it('one of ADMIN_EMAIL and ADMIN_PASSWORD alone is refused, and two signing keys that are the same', () => {
    expect(badOnes({ ADMIN_EMAIL: 'admin@example.com' })).toEqual(['ADMIN_PASSWORD']);
    expect(badOnes({ ADMIN_PASSWORD: 'secret' })).toEqual(['ADMIN_EMAIL']);
    expect(badOnes({ JWT_ACCESS_SECRET: LONG, JWT_REFRESH_SECRET: LONG })).toEqual(['JWT_REFRESH_SECRET']);
  });
});

/** Secrets that the files which a user copies from give to settings. */
async function publishedSecrets(): Promise<(readonly [name: string, value: string])[]> {
  const files = ['README.md', '.env.example', 'docker-compose.yml', 'test/support/midtrans-stand-in.ts'];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const found = texts.flatMap((text) => [
    ...text.matchAll(/(ADMIN_PASSWORD|JWT_\w+_SECRET|MIDTRANS_SERVER_KEY)(?:=|: \$\{\w+:-)'?([^'}\n]+)/g),
    ...text.matchAll(/()(SB-Mid-server-[\w-]+)/g),
    ...text.matchAll(/(POSTGRES_PASSWORD):-([^}]+)/g),
  ]);
  return found.map(([, name, value = '']) => {
    if (name === 'POSTGRES_PASSWORD') return ['DATABASE_URL', `postgresql://bakery:${value}@postgres/bakery`];
    return [name === '' ? 'MIDTRANS_SERVER_KEY' : String(name), value];
  });
}

describe('the settings of production', () => {
  it('with secrets of their own they are taken', () => {
    expect(read(PRODUCTION)).toMatchObject({
      nodeEnv: 'production',
      corsAllowsLoopback: false,
      payment: { gateway: 'midtrans' },
    });
  });

  it('default secrets and the simulator are refused in one message, and no key is generated', async () => {
    expect(badOnes({ NODE_ENV: 'production' })).toEqual([
      'JWT_ACCESS_SECRET',
      'JWT_REFRESH_SECRET',
      'PAYMENT_GATEWAY',
    ]);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('every secret that a file of this repository publishes is refused in production', async () => {
    const found = await publishedSecrets();
    expect([...new Set(found.map(([name]) => name))].sort()).toEqual([
      'ADMIN_PASSWORD',
      'DATABASE_URL',
      'MIDTRANS_SERVER_KEY',
    ]);
    const ofVersion1 = [['JWT_ACCESS_SECRET', 'of-this-compose-file-alone-access-key']] as const;
    for (const [name, value] of [...found, ...ofVersion1]) {
      expect([name, value, badOnes({ ...PRODUCTION, [name]: value })]).toEqual([name, value, [name]]);
    }
  });
});

describe('the signing keys of development', () => {
  it('are generated once, long and different, for their owner alone, and kept across starts', async () => {
    const { jwtAccessSecret, jwtRefreshSecret } = read({});
    expect(jwtAccessSecret.length).toBeGreaterThanOrEqual(32);
    expect(jwtRefreshSecret.length).toBeGreaterThanOrEqual(32);
    expect(jwtAccessSecret).not.toBe(jwtRefreshSecret);
    expect(read({})).toMatchObject({ jwtAccessSecret, jwtRefreshSecret });
    expect(await readdir(dataDir)).toEqual(['development-secrets.json']);
    const { mode } = await stat(join(dataDir, 'development-secrets.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('a file that holds no keys is named, and its content is not', async () => {
    const file = join(dataDir, 'development-secrets.json');
    await writeFile(file, 'shh, cut sho');
    expect(() => read({})).toThrow('development-secrets.json does not hold the development keys');
  });
});

describe('.env.example', () => {
  it('lists every variable that is read, and no other', async () => {
    const names = new Set<string>();
    // With an endpoint, since only then the name of the service is read.
    const set: NodeJS.ProcessEnv = { DATA_DIR: dataDir, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector' };
    const get = (target: NodeJS.ProcessEnv, name: string) => {
      names.add(name);
      return target[name];
    };
    readEnv(new Proxy(set, { get }));
    const example = await readFile('.env.example', 'utf8');
    const listed = new Set([...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name));
    expect([...listed].sort()).toEqual([...names].sort());
  });
});
