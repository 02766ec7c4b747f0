import type { Env } from './config/env.js';

/** What Node and `pg` add to their errors. */
interface ErrorFields {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
}

/** Why the service could not start, in one sentence that says what to change. */
export function startFailure(error: unknown, env: Env): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, port, path } = error as ErrorFields;
  const codeText = typeof code === 'string' ? code : '';
  if (syscall === 'listen')
    return listenFailure(codeText, port === env.metricsPort ? 'METRICS_PORT' : 'PORT', env);
  if (codeText === '42501') return `the database refuses the service: ${error.message}; check DATABASE_URL`;
  if (typeof path === 'string' && codeText.startsWith('E'))
    return `DATA_DIR ${env.dataDir} cannot be used: ${error.message}`;
  return error.message;
}

function listenFailure(code: string, setting: 'PORT' | 'METRICS_PORT', env: Env): string {
  const port = setting === 'PORT' ? env.port : env.metricsPort;
  if (code === 'EADDRINUSE') return `port ${port ?? ''} is in use: set ${setting} to another one`;
  if (code === 'EACCES')
    return `port ${port ?? ''} is not allowed for this user: set ${setting} to one above 1023`;
  return `HOST ${env.host} is no address of this machine (${code})`;
}
