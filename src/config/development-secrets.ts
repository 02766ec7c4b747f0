import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeDataDir, writeOnce } from './files.js';

/**
 * The signing keys of a development service, made once and kept in `DATA_DIR/development-secrets.json`, so that
 * sessions outlive a restart. Processes that start at the same moment agree on the first one's.
 * @returns a key for each of the two kinds of token, at least 32 characters each
 * @throws Error when DATA_DIR cannot be made or written, or the file holds no keys
 */
export function developmentSecrets(dataDir: string) {
  const file = join(dataDir, 'development-secrets.json');
  const key = () => randomBytes(48).toString('base64url');
  const made = JSON.stringify({ jwtAccessSecret: key(), jwtRefreshSecret: key() }, null, 2);
  makeDataDir(dataDir);
  const kept = writeOnce(file, `${made}\n`, 0o600);
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(kept) as Partial<Record<string, string>>;
    if (jwtAccessSecret && jwtRefreshSecret) return { jwtAccessSecret, jwtRefreshSecret };
  } catch {
    // The parser's message quotes the file, which holds a key.
  }
  throw new Error(`${file} does not hold the development keys; delete it to have new ones made`);
}
