import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys that sign the two kinds of token; at least 32 characters each. */
export interface JwtSecrets {
  readonly jwtAccessSecret: string;
  readonly jwtRefreshSecret: string;
}

/**
 * The signing keys of a development service, made once and kept in `DATA_DIR/development-secrets.json`, so that
 * sessions outlive a restart. Processes that start at the same moment agree: the first link wins.
 */
export function developmentSecrets(dataDir: string): JwtSecrets {
  const file = join(dataDir, 'development-secrets.json');
  return read(file) ?? create(dataDir, file);
}

function create(dataDir: string, file: string): JwtSecrets {
  mkdirSync(dataDir, { recursive: true });
  const secrets: JwtSecrets = {
    jwtAccessSecret: randomBytes(48).toString('base64url'),
    jwtRefreshSecret: randomBytes(48).toString('base64url'),
  };
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, file);
    return secrets;
  } catch (error) {
    const winner = read(file);
    if (winner === null) throw error;
    return winner;
  } finally {
    rmSync(temporary);
  }
}

function read(file: string): JwtSecrets | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const secrets = parse(text);
  if (secrets === null) {
    throw new Error(`${file} does not hold the development keys; delete it to have new ones made`);
  }
  return secrets;
}

function parse(text: string): JwtSecrets | null {
  try {
    const { jwtAccessSecret, jwtRefreshSecret } = JSON.parse(text) as Partial<JwtSecrets>;
    return typeof jwtAccessSecret === 'string' && typeof jwtRefreshSecret === 'string'
      ? { jwtAccessSecret, jwtRefreshSecret }
      : null;
  } catch {
    // The parser's message quotes the file, which holds a key.
    return null;
  }
}
