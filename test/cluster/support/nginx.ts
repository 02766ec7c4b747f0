import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts } from '../../support/loopback.js';
import { freePort } from '../../support/process.js';
import { until } from '../../support/wait.js';
import { stopProgram } from './processes.js';

const CONFIGURATION = 'deploy/nginx.conf';
const UPSTREAM = /server replica:8080 ([^;]*);/;

/** nginx with deploy/nginx.conf in front of processes on this machine. */
export class Nginx {
  private constructor(
    private readonly folder: string,
    readonly port: number,
    private readonly upstreamPorts: readonly number[],
    private readonly master: ChildProcess,
  ) {}

  static async start(upstreamPorts: readonly number[]): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), 'bakery-nginx-'));
    const port = await freePort();
    await writeConfiguration(folder, port, upstreamPorts);
    const options = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;`;
    const master = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-g', options], {
      env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin` },
      stdio: 'ignore',
    });
    await until('nginx accepts connections', () => accepts('127.0.0.1', port));
    return new Nginx(folder, port, upstreamPorts, master);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Reloads nginx with one upstream marked `down`, or with all of them in use, and waits until the workers with the earlier
   * configuration have finished their requests.
   */
  async reload(downPort?: number): Promise<void> {
    await writeConfiguration(this.folder, this.port, this.upstreamPorts, downPort);
    const before = await this.#workers();
    this.master.kill('SIGHUP');
    await until('the earlier workers have ended', async () => {
      const now = await this.#workers();
      return now.length > 0 && !now.some((pid) => before.includes(pid));
    });
  }

  async stop(): Promise<void> {
    await stopProgram(this.master);
    await rm(this.folder, { recursive: true, force: true });
  }

  async #workers(): Promise<string[]> {
    const tasks = `/proc/${this.master.pid ?? 0}/task`;
    const lists = (await readdir(tasks)).map((task) => readFile(join(tasks, task, 'children'), 'utf8'));
    return (await Promise.all(lists)).join(' ').split(' ').filter(Boolean);
  }
}

/** Writes deploy/nginx.conf with the ports of this test. */
async function writeConfiguration(
  folder: string,
  port: number,
  upstreamPorts: readonly number[],
  downPort?: number,
): Promise<void> {
  const shipped = await readFile(CONFIGURATION, 'utf8');
  const [, parameters = ''] = UPSTREAM.exec(shipped) ?? [];
  if (parameters === '') throw new Error(`${CONFIGURATION} has no upstream like ${UPSTREAM.source}`);
  const servers = upstreamPorts.map(
    (upstream) => `server 127.0.0.1:${upstream} ${parameters}${upstream === downPort ? ' down' : ''};`,
  );
  const configuration = shipped
    .replace(UPSTREAM, servers.join(' '))
    .replace('listen 8080;', `listen 127.0.0.1:${port};`);
  await writeFile(join(folder, 'nginx.conf'), configuration);
}
