import type { Env } from './config/env.js';

const INSUFFICIENT_PRIVILEGE = '42501'; // https://www.postgresql.org/docs/current/errcodes-appendix.html
/** Codes of `listen` and of the lookup of a host name. */
const NO_LOCAL_ADDRESS = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/** Describes why the service could not start. If the cause is a setting, the text names it. */
export function describeStartFailure(error: unknown, env: Env): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', syscall, path, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  // The service cannot listen. A database that cannot be reached is an error of `openDatabase`, without `syscall`.
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const setting = port === env.metricsPort ? 'METRICS_PORT' : 'PORT';
    if (code === 'EADDRINUSE') return `port ${port} is in use: set ${setting} to another one`;
    if (code === 'EACCES')
      return `port ${port} is not allowed for this user: set ${setting} to one above 1023`;
    if (NO_LOCAL_ADDRESS.has(code)) return `HOST ${env.host} is no address of this machine (${code})`;
    return `the service cannot listen on HOST ${env.host} and port ${port}: ${error.message}`;
  }
  if (code === INSUFFICIENT_PRIVILEGE)
    return `the database refuses the service: ${error.message}; check DATABASE_URL`;
  if (path?.startsWith(env.dataDir) === true)
    return `DATA_DIR ${env.dataDir} cannot be used: ${error.message}`;
  return error.message;
}
