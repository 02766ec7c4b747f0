import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { makeDataDir, writeOnce } from './files.js';

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
  const newKey = () => randomBytes(48).toString('base64url');
  const secrets: JwtSecrets = { jwtAccessSecret: newKey(), jwtRefreshSecret: newKey() };
  makeDataDir(dataDir);
  const kept = parse(writeOnce(file, `${JSON.stringify(secrets, null, 2)}\n`, 0o600));
  if (kept === null)
    throw new Error(`${file} does not hold the development keys; delete it to have new ones made`);
  return kept;
}

function parse(text: string): JwtSecrets | null {
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(text) as Partial<JwtSecrets>;
    return jwtAccessSecret && jwtRefreshSecret ? { jwtAccessSecret, jwtRefreshSecret } : null;
  } catch {
    return null; // The parser's message quotes the file, which holds a key.
  }
}
