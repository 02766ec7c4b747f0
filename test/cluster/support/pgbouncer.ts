import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAM_PATH } from '../../support/installed.js';
import { acceptsConnections } from '../../support/loopback.js';
import { findFreePort, useFolder } from '../../support/process.js';
import { stopAfterUse } from '../../support/stop-after-use.js';
import { until } from '../../support/wait.js';

/** User `nobody` on Debian, because PgBouncer does not run as root. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };

/** Starts PgBouncer in transaction mode in front of the server of a database. It is stopped after its use. */
export async function startPgBouncer(databaseUrl: string) {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const port = await findFreePort();
  const folder = await useFolder('bakery-pgbouncer-');
  const configuration = join(folder, 'pgbouncer.ini');
  await writeFile(
    configuration,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 200
server_login_retry = 1
ignore_startup_parameters = statement_timeout, lock_timeout, idle_in_transaction_session_timeout
`,
  );
  const isRoot = process.getuid?.() === 0;
  const options = { env: { PATH: PROGRAM_PATH }, stdio: 'ignore', ...(isRoot && UNPRIVILEGED) } as const;
  const child = await stopAfterUse(
    spawn('pgbouncer', ['--quiet', configuration], options),
    async (started) => {
      started.kill('SIGINT');
      if (started.exitCode === null && started.signalCode === null) await once(started, 'exit');
    },
  );
  await until('PgBouncer accepts connections', () => {
    const ending = child.exitCode ?? child.signalCode;
    if (ending !== null) throw new Error(`PgBouncer ended with ${ending}`);
    return acceptsConnections('127.0.0.1', port);
  });
  return {
    /** Returns the URL of a database of the same server through PgBouncer. */
    through: (url: string) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
  };
}
