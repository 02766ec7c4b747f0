import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createDataDir, writeOnce } from '../common/files.js';

/**
 * Reads the signing keys of a development service from `DATA_DIR/development-secrets.json`, so that sessions survive a
 * restart. The first start generates the keys.
 */
export function loadDevelopmentSecrets(dataDir: string) {
  const file = join(dataDir, 'development-secrets.json');
  const generateKey = () => randomBytes(48).toString('base64url');
  const generated = { jwtAccessSecret: generateKey(), jwtRefreshSecret: generateKey() };
  createDataDir(dataDir);
  const stored = writeOnce(file, `${JSON.stringify(generated, null, 2)}\n`, 0o600);
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(stored) as Partial<Record<string, string>>;
    if (jwtAccessSecret && jwtRefreshSecret) return { jwtAccessSecret, jwtRefreshSecret };
  } catch {
    // Ignore the parser's error, because its message quotes the file with the keys.
  }
  throw new Error(
    `${file} does not contain the development keys; delete the file, and the next start generates new keys`,
  );
}
