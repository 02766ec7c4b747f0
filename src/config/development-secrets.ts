import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createDataDir, writeOnce } from './files.js';

/**
 * Reads the signing keys of a development service from `DATA_DIR/development-secrets.json`, so that sessions survive a
 * restart. The first start generates the keys. Processes that start at the same moment use the same keys.
 * @returns a key of at least 32 characters for each of the two kinds of token
 * @throws Error if DATA_DIR cannot be created or written, or if the file contains no keys
 */
export function loadDevelopmentSecrets(dataDir: string) {
  const file = join(dataDir, 'development-secrets.json');
  const generateKey = () => randomBytes(48).toString('base64url');
  const generated = JSON.stringify(
    { jwtAccessSecret: generateKey(), jwtRefreshSecret: generateKey() },
    null,
    2,
  );
  createDataDir(dataDir);
  const stored = writeOnce(file, `${generated}\n`, 0o600);
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(stored) as Partial<Record<string, string>>;
    if (jwtAccessSecret && jwtRefreshSecret) return { jwtAccessSecret, jwtRefreshSecret };
  } catch {
    // The parser's message quotes the file, which contains a key.
  }
  throw new Error(
    `${file} does not contain the development keys; delete the file, and the next start generates new keys`,
  );
}
