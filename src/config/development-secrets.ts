import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, writeOnce } from './embedded-postgres/files.js';

/** Keys that sign the two kinds of token; at least 32 characters each. */
export interface JwtSecrets {
  readonly jwtAccessSecret: string;
  readonly jwtRefreshSecret: string;
}

/**
 * The signing keys of a development service, made once and kept in `DATA_DIR/development-secrets.json`, so that
 * sessions outlive a restart. Processes that start at the same moment agree on the first one's.
 * @throws Error when DATA_DIR cannot be made or written, or the file holds no keys
 */
export function developmentSecrets(dataDir: string): JwtSecrets {
  const file = join(dataDir, 'development-secrets.json');
  const secrets = parse(keep(dataDir, file));
  if (secrets === null)
    throw new Error(`${file} does not hold the development keys; delete it to have new ones made`);
  return secrets;
}

function keep(dataDir: string, file: string): string {
  const [jwtAccessSecret, jwtRefreshSecret] = [48, 48].map((bytes) =>
    randomBytes(bytes).toString('base64url'),
  );
  try {
    mkdirSync(dataDir, { recursive: true });
    return writeOnce(file, `${JSON.stringify({ jwtAccessSecret, jwtRefreshSecret }, null, 2)}\n`, 0o600);
  } catch (error) {
    throw new Error(`DATA_DIR ${dataDir} cannot be made or written (${errorCode(error) ?? String(error)})`, {
      cause: error,
    });
  }
}

function parse(text: string): JwtSecrets | null {
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(text) as Partial<JwtSecrets>;
    return jwtAccessSecret && jwtRefreshSecret ? { jwtAccessSecret, jwtRefreshSecret } : null;
  } catch {
    return null; // The parser's message quotes the file, which holds a key.
  }
}
