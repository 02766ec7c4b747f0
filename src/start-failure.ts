import type { Env } from './config/env.js';

/** Describes in one sentence why the service could not start, and names the setting to change. */
export function describeStartFailure(error: unknown, env: Env): string {
  if (!(error instanceof Error)) return String(error);
  const { code = '', syscall, path, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    const setting = port === env.metricsPort ? 'METRICS_PORT' : 'PORT';
    if (code === 'EADDRINUSE') return `port ${port} is in use: set ${setting} to another one`;
    if (code === 'EACCES')
      return `port ${port} is not allowed for this user: set ${setting} to one above 1023`;
    return `HOST ${env.host} is no address of this machine (${code})`;
  }
  if (code === '42501') return `the database refuses the service: ${error.message}; check DATABASE_URL`;
  if (path !== undefined && code.startsWith('E'))
    return `DATA_DIR ${env.dataDir} cannot be used: ${error.message}`;
  return error.message;
}
