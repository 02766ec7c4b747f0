import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { importBuilt } from './support/built.js';
import { useFolder } from './support/process.js';
import { findPublishedSecrets } from './support/published-secrets.js';

const { readEnv, VARIABLES } = await importBuilt('src/config/read-env.js');

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

const CLOUD = 'cloudinary://key:secret@cloud';
const SEVERAL_HOSTS = 'DATABASE_URL names several hosts; name one, such as a proxy in front of the cluster';
const COLLECTOR = 'http://collector:4318';

let dataDir: string;

beforeEach(async () => {
  dataDir = await useFolder('bakery-settings-');
});

function read(settings: Record<string, string>) {
  return readEnv({ DATA_DIR: dataDir, ...settings });
}

/** Returns the sorted names of the variables for which settings are rejected. */
function findBadVariables(settings: Record<string, string>): string[] {
  const [, ...lines] = readRejection(settings).split('\n');
  return lines.map((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? line).sort();
}

/** Returns the message with which settings are rejected; empty if they are accepted. */
function readRejection(settings: Record<string, string>): string {
  try {
    read(settings);
  } catch (error) {
    // The build uses the class `Error` of Node, not the one of Jest's context, so `instanceof Error` would be false.
    if (isNativeError(error)) return error.message;
    throw error;
  }
  return '';
}

describe('the settings', () => {
  it('have the documented defaults if all variables except DATA_DIR are unset or empty', () => {
    expect(read({}).isTraced).toBe(false); // `toEqual` ignores getters.
    const empty = { PORT: '', DATABASE_URL: ' ', ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };
    expect(read(empty)).toEqual({
      nodeEnv: 'development',
      port: 3000,
      host: '0.0.0.0',
      metricsHost: '127.0.0.1',
      publicUrl: 'http://localhost:3000',
      logLevel: 'info',
      dataDir: dataDir,
      jwtAccessSecret: expect.any(String) as unknown,
      jwtRefreshSecret: expect.any(String) as unknown,
      trustedProxies: 0,
      sessionsPerAccount: 1,
      catalogAccess: 'user',
      imageHost: 'local',
      stagedImageTtlS: 600,
      catalogCacheMb: 64,
      mailFrom: 'Bakery <no-reply@bakery.example>',
      paymentGateway: 'simulator',
      midtransServerKey: 'SB-Mid-server-local',
      midtransSnapUrl: 'https://app.sandbox.midtrans.com/snap/v1',
      midtransApiUrl: 'https://api.sandbox.midtrans.com',
      otelSdkDisabled: 'false',
      otelServiceName: 'bakery-catalog-service',
      warnings: [],
    });
  });

  it.each<[Record<string, string>, object]>([
    [{ CLOUDINARY_URL: CLOUD }, { imageHost: 'cloudinary' }],
    [{ CLOUDINARY_URL: CLOUD, IMAGE_HOST: 'local' }, { imageHost: 'local' }],
    [{ MIDTRANS_SERVER_KEY: 'SB-x' }, { paymentGateway: 'midtrans', midtransServerKey: 'SB-x' }],
    [{ PORT: '8080' }, { publicUrl: 'http://localhost:8080' }],
    [{ METRICS_PORT: '9464' }, { metricsPort: 9464, isTraced: false }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR }, { isTraced: true }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${COLLECTOR}/v1/traces` }, { isTraced: true }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: COLLECTOR, OTEL_SDK_DISABLED: 'true' }, { isTraced: false }],
    [{ OTEL_SERVICE_NAME: 'shop' }, { otelServiceName: 'shop', isTraced: false }],
    [{ TRUSTED_PROXIES: '9' }, { trustedProxies: 9 }],
    [{ TRUSTED_PROXIES: '127.0.0.1, fd00::/8,::1' }, { trustedProxies: '127.0.0.1, fd00::/8,::1' }],
    [{ PUBLIC_URL: 'https://bakery.example/' }, { publicUrl: 'https://bakery.example' }],
    [{ MAIL_FROM: 'shop@localhost' }, { mailFrom: 'shop@localhost' }],
    [{ MAIL_FROM: 'Toko, Roti <shop@bakery.example>' }, { mailFrom: 'Toko, Roti <shop@bakery.example>' }],
  ])('with the variables %j contain %j', (variables, expected) => {
    expect(read(variables)).toMatchObject(expected);
  });

  it('are rejected with one message that names every bad variable and contains no value', () => {
    const bad = {
      NODE_ENV: 'staging-value',
      PORT: '70000',
      DATABASE_URL: 'mysql://user:db-password-value@host/db',
      JWT_ACCESS_SECRET: 'short-value',
      JWT_REFRESH_SECRET: 'short-value',
      ADMIN_EMAIL: 'email-value',
      CLOUDINARY_URL: 'https://cloud-value',
      SMTP_URL: 'http://user:smtp-password-value@host',
      PAYMENT_GATEWAY: 'stripe-value',
      MIDTRANS_SNAP_URL: 'snap-value',
      MIDTRANS_API_URL: 'api-value',
    };
    // ADMIN_PASSWORD is bad because ADMIN_EMAIL is set without it.
    expect(findBadVariables(bad)).toEqual([...Object.keys(bad), 'ADMIN_PASSWORD'].sort());
    expect(readRejection(bad)).not.toMatch(/-value|70000/);
  });

  it.each([
    ['PORT', ['-1', '65536', '0x50']],
    ['METRICS_PORT', ['0']],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318']],
    ['CATALOG_CACHE_MB', ['-1', '1.5', '4097']],
    ['STAGED_IMAGE_TTL_S', ['0', '86401', 'ten']],
    ['SESSIONS_PER_ACCOUNT', ['0', '21', 'ten', '1.5']],
    ['CATALOG_ACCESS', ['none', 'Public']],
    ['TRUSTED_PROXIES', ['10', 'true', 'proxy.example', '10.0.0.0/33', '10.0.0.0/0', '::/0', '10.0.0.1,']],
    ['PUBLIC_URL', ['ftp://a.example', 'javascript:alert(1)', 'http:a', 'http://a.example/?b', 'http://a@b']],
    ['DATABASE_URL', ['localhost:5432', 'mysql://localhost/db', 'postgresql://shop:100%@localhost/db']],
    [
      'CLOUDINARY_URL',
      [
        'cloudinary://key@cloud',
        `${CLOUD}:443`,
        ...[
          'signature_algorithm=md5',
          'upload_prefix=ftp://a.example',
          'upload_prefix=https://',
          'upload_prefix=https://a.example/?b',
        ].map((query) => `${CLOUD}?${query}`),
      ],
    ],
    ['SMTP_URL', ['mail.example', 'imap://mail.example', 'smtp:mail.example', 'smtp://']],
    ['MAIL_FROM', ['Bakery', 'shop@bakery.example, owner@bakery.example', 'Bakery <shop>']],
    ['LOG_LEVEL', ['INFO', 'warning']],
    ['CORS_ORIGINS', ['*', 'null', 'shop.example', 'https://shop.example/', 'https://*.shop.example']],
    ['JWT_ACCESS_SECRET', ['x'.repeat(31)]],
    ['IMAGE_HOST', ['Local']],
  ])('reject a bad %s: %j', (name, values) => {
    for (const value of values) expect([value, findBadVariables({ [name]: value })]).toEqual([value, [name]]);
  });

  it('contain ADMIN_EMAIL with the ASCII form of its domain, and reject a domain that has no ASCII form', () => {
    const email = 'owner@bücher\u3002example';
    const settings = { ADMIN_EMAIL: email, ADMIN_PASSWORD: 'secret' };
    expect(read(settings).adminEmail).toBe('owner@xn--bcher-kva.example');
    expect(findBadVariables({ ...settings, ADMIN_EMAIL: 'owner@a/\u3002example' })).toEqual(['ADMIN_EMAIL']);
  });

  it('reject an ADMIN_EMAIL and an ADMIN_PASSWORD that a login would reject', () => {
    const settings = { ADMIN_EMAIL: '\u200Bowner@example.com', ADMIN_PASSWORD: 'p\uFFFDssword' };
    expect(findBadVariables(settings)).toEqual(['ADMIN_EMAIL', 'ADMIN_PASSWORD']);
  });

  it.each<[Record<string, string>, string]>([
    [{ ADMIN_EMAIL: 'admin@example.com' }, 'ADMIN_PASSWORD is required with ADMIN_EMAIL'],
    [{ ADMIN_PASSWORD: 'secret' }, 'ADMIN_EMAIL is required with ADMIN_PASSWORD'],
    [
      { JWT_ACCESS_SECRET: LONG, JWT_REFRESH_SECRET: LONG },
      'JWT_REFRESH_SECRET must differ from JWT_ACCESS_SECRET',
    ],
    [{ IMAGE_HOST: 'cloudinary' }, 'CLOUDINARY_URL is required with IMAGE_HOST=cloudinary'],
    [{ PAYMENT_GATEWAY: 'midtrans' }, 'MIDTRANS_SERVER_KEY is required with PAYMENT_GATEWAY=midtrans'],
    [
      { PORT: '3000', METRICS_PORT: '3000' },
      'METRICS_PORT must differ from PORT: metrics are not for clients',
    ],
    [
      { CORS_ORIGINS: 'http://localhost:5173/' },
      'CORS_ORIGINS must be origins without a slash at the end, such as https://shop.example',
    ],
    [{ DATABASE_URL: 'postgresql://shop:a-value@db1.example:5432,db2.example:5432/shop' }, SEVERAL_HOSTS],
    [{ DATABASE_URL: 'postgres://db1.example%2Cdb2.example/shop' }, SEVERAL_HOSTS],
    [{ DATABASE_URL: 'postgresql://shop:a-value@/shop?host=db1.example,db2.example' }, SEVERAL_HOSTS],
  ])('are rejected if they contain %j, with the reason: %s', (variables, reason) => {
    expect(readRejection(variables)).toBe(`The service cannot start with these settings:\n  ${reason}`);
  });
});

describe('a variable that is no setting', () => {
  it.each(['ADMIN_EMIAL', 'ADMIN_MAIL', 'ADMIN_EMAILS', 'ADMIN_EMAIX'])(
    'causes a warning with the probable setting if a letter is missing, extra or different, or two neighbors are swapped: %s',
    (name) => {
      const warning = `${name} is not a setting and has no effect: did you mean ADMIN_EMAIL?`;
      expect(read({ [name]: 'owner@example.com' }).warnings).toEqual([warning]);
    },
  );

  it('causes no warning if it is another variable of the system', () => {
    const others = { PATH: '/bin', HOSTNAME: 'shop', POST: '1', OTEL_TRACES_SAMPLER: 'x' };
    expect(read(others).warnings).toEqual([]);
  });
});

describe('the settings of production', () => {
  it('are rejected without signing keys and with the simulator, and no key is generated', async () => {
    expect(findBadVariables({ NODE_ENV: 'production' })).toEqual([
      'JWT_ACCESS_SECRET',
      'JWT_REFRESH_SECRET',
      'PAYMENT_GATEWAY',
    ]);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('reject every secret that this repository contains and a secret of version 1, also percent-encoded in a URL', async () => {
    const found = await findPublishedSecrets();
    const samples = [
      'bakery',
      'open sesame',
      'kue lapis legit',
      'password',
      'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U',
    ];
    expect(found).toEqual(expect.arrayContaining(samples));
    const secretOfVersion1 = 'of-this-compose-file-alone-access-key';
    const accepted = [...found, secretOfVersion1].filter((secret) => {
      const percentEncoded = Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&');
      const settings = {
        ADMIN_PASSWORD: secret,
        MIDTRANS_SERVER_KEY: secret,
        DATABASE_URL: `postgresql://bakery:${encodeURIComponent(secret)}@postgres/bakery`,
        SMTP_URL: `smtp://bakery:${percentEncoded}@mail.example`,
        CLOUDINARY_URL: `cloudinary://key:${percentEncoded}@cloud`,
      };
      const encoded = { DATABASE_URL: `postgresql://bakery:${percentEncoded}@postgres/bakery` };
      const inQuery = { DATABASE_URL: `postgresql://postgres/bakery?user=bakery&password=${percentEncoded}` };
      return [settings, encoded, inQuery].some((changed) => {
        const rejected = findBadVariables({ ...PRODUCTION, ...changed });
        return rejected.join() !== Object.keys(changed).sort().join();
      });
    });
    expect(accepted).toEqual([]);
    for (const name of ['JWT_ACCESS_SECRET', 'JWT_REFRESH_SECRET', 'MIDTRANS_SERVER_KEY', 'ADMIN_PASSWORD'])
      expect([name, findBadVariables({ ...PRODUCTION, [name]: secretOfVersion1 })]).toEqual([name, [name]]);
  });

  it('reject an ADMIN_PASSWORD of less than 12 characters, which development accepts', () => {
    expect(findBadVariables({ ...PRODUCTION, ADMIN_PASSWORD: 'elevenchars' })).toEqual(['ADMIN_PASSWORD']);
    const sixCharacters = '🥐'.repeat(6); // 12 UTF-16 code units
    expect(findBadVariables({ ...PRODUCTION, ADMIN_PASSWORD: sixCharacters })).toEqual(['ADMIN_PASSWORD']);
    expect(read({ ...PRODUCTION, ADMIN_PASSWORD: 'twelve chars' }).adminPassword).toBe('twelve chars');
    expect(read({ ADMIN_EMAIL: 'owner@example.com', ADMIN_PASSWORD: '1' }).adminPassword).toBe('1');
  });

  it.each([
    ['JWT_ACCESS_SECRET', ['0'.repeat(32), 'ab'.repeat(20), '0123456789abcdefghijklmnopqrstuvwxyz']],
    ['JWT_REFRESH_SECRET', ['correct-horse'.repeat(3)]],
    ['MIDTRANS_SERVER_KEY', ['abc', 'SB-Mid-server-']],
    ['ADMIN_PASSWORD', ['aaaaaaaaaaaa', '123456789012', 'abcabcabcabc']],
  ])('reject a %s that can be guessed, without printing it: %j', (name, values) => {
    for (const value of values) {
      const changed = { ...PRODUCTION, [name]: value };
      expect([value, findBadVariables(changed)]).toEqual([value, [name]]);
      expect(readRejection(changed)).not.toContain(value);
    }
  });

  it('cause a warning for each unset SMTP_URL, PUBLIC_URL and CORS_ORIGINS and each sandbox address of the gateway', () => {
    const settings = {
      SMTP_URL: 'smtp://mail.example',
      PUBLIC_URL: 'https://shop.example',
      CORS_ORIGINS: 'https://shop.example',
      MIDTRANS_SNAP_URL: 'https://app.midtrans.com/snap/v1',
      MIDTRANS_API_URL: 'https://api.midtrans.com',
    };
    const warned = (env: Record<string, string>) => read(env).warnings.map((line) => line.split(' ')[0]);
    expect(warned(PRODUCTION)).toEqual(Object.keys(settings));
    expect(warned({ ...PRODUCTION, ...settings, PUBLIC_URL: ' ' })).toEqual(['PUBLIC_URL']);
    expect(warned({ ...PRODUCTION, ...settings })).toEqual([]);
    expect(warned({})).toEqual([]);
  });
});

describe('DATABASE_URL', () => {
  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'with sslmode=%s gets verify-full, which means the same to the driver but causes no security warning',
    (mode) => {
      const url = (value: string) =>
        `postgresql://shop:p%2Cw@db.example/shop?sslmode=${value}&connect_timeout=3`;
      expect(read({ DATABASE_URL: url(mode) }).databaseUrl).toBe(url('verify-full'));
    },
  );

  it.each([
    '//db.example/shop?sslmode=disable',
    '//db.example/shop?sslmode=no-verify',
    '//db.example/shop?uselibpqcompat=true&sslmode=require',
    '///shop?host=/run/postgresql&user=a,b',
  ])('is passed to the driver unchanged: postgresql:%s', (rest) => {
    const url = `postgresql:${rest}`;
    expect(read({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });
});

describe('the signing keys of development', () => {
  it('are generated once, in a file that only its owner can read, and reused at every start', async () => {
    const { jwtAccessSecret, jwtRefreshSecret } = read({});
    expect(jwtAccessSecret.length).toBeGreaterThanOrEqual(32);
    expect(jwtRefreshSecret.length).toBeGreaterThanOrEqual(32);
    expect(jwtAccessSecret).not.toBe(jwtRefreshSecret);
    expect(read({})).toMatchObject({ jwtAccessSecret, jwtRefreshSecret });
    expect(await readdir(dataDir)).toEqual(['development-secrets.json']);
    const { mode } = await stat(join(dataDir, 'development-secrets.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('cannot be read from a damaged file: the error names the file, but not its content', async () => {
    const file = join(dataDir, 'development-secrets.json');
    await writeFile(file, 'HALF A KEY');
    expect(() => read({})).toThrow(/^\S+development-secrets\.json does not contain the [a-z,; ]+$/);
  });
});

it('.env.example lists exactly the variables that the service reads', async () => {
  const example = await readFile('.env.example', 'utf8');
  const listed = new Set([...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name));
  expect([...listed].sort()).toEqual([...VARIABLES.values()].sort());
});
