import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAM_PATH } from '../../support/installed.js';
import { acceptsConnections } from '../../support/loopback.js';
import { findFreePort, useFolder } from '../../support/process.js';
import { stopAfterUse } from '../../support/stop-after-use.js';
import { until } from '../../support/wait.js';
import { listChildren, stopProgram } from './processes.js';

const CONFIGURATION = 'deploy/nginx.conf';
const UPSTREAM = /server replica:8080 ([^;]*);/;
const LISTEN = 'listen 8080;';

export type Nginx = Awaited<ReturnType<typeof startNginx>>;

/** Starts nginx with deploy/nginx.conf as the proxy of processes on this machine. It is stopped after its use. */
export async function startNginx(upstreamPorts: readonly number[]) {
  const folder = await useFolder('bakery-nginx-');
  const port = await findFreePort();
  await writeConfiguration(folder, port, upstreamPorts);
  const directives = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;`;
  const args = ['-c', join(folder, 'nginx.conf'), '-g', directives];
  const options = { env: { PATH: PROGRAM_PATH }, stdio: 'ignore' } as const;
  const master = await stopAfterUse(spawn('nginx', args, options), stopProgram);
  await until('nginx accepts connections', () => acceptsConnections('127.0.0.1', port));

  /**
   * Reloads nginx and waits until the workers with the previous configuration have finished their requests.
   * @param downPort port of a process to mark `down`; without it, nginx uses all processes
   */
  async function reload(downPort?: number): Promise<void> {
    await writeConfiguration(folder, port, upstreamPorts, downPort);
    const listWorkers = () => listChildren(master.pid ?? 0);
    const previous = await listWorkers();
    master.kill('SIGHUP');
    await until('the previous workers have ended', async () => {
      const current = await listWorkers();
      return current.length > 0 && !current.some((pid) => previous.includes(pid));
    });
  }

  return { url: `http://127.0.0.1:${port}`, reload };
}

/** Writes a copy of deploy/nginx.conf with the ports of this test into a folder. */
async function writeConfiguration(
  folder: string,
  port: number,
  upstreamPorts: readonly number[],
  downPort?: number,
): Promise<void> {
  const shipped = await readFile(CONFIGURATION, 'utf8');
  const [, parameters = ''] = UPSTREAM.exec(shipped) ?? [];
  if (parameters === '') throw new Error(`${CONFIGURATION} has no upstream like ${UPSTREAM.source}`);
  if (!shipped.includes(LISTEN)) throw new Error(`${CONFIGURATION} does not contain ${LISTEN}`);
  const servers = upstreamPorts.map(
    (upstream) => `server 127.0.0.1:${upstream} ${parameters}${upstream === downPort ? ' down' : ''};`,
  );
  const configuration = shipped
    .replace(UPSTREAM, servers.join(' '))
    .replace(LISTEN, `listen 127.0.0.1:${port};`);
  await writeFile(join(folder, 'nginx.conf'), configuration);
}
