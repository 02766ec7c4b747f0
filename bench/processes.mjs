import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BENCH_SECRET } from './tokens.mjs';

const root = join(import.meta.dirname, '..');
/** Flags that `npm start` passes to Node. */
export const SERVICE_FLAGS = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  .scripts.start.split(' ')
  .filter((word) => word.startsWith('--'));
const READY_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 15_000;

/** Node processes of one run. `stopAll` stops the remaining ones. */
export class Processes {
  #running = new Set();

  constructor(logFolder) {
    this.logFolder = logFolder;
  }

  /**
   * Starts a script and waits until it accepts connections. The script writes its output to a file, because a pipe to this
   * process would slow down the measurement.
   *
   * @param script path, relative to the checkout
   */
  async start(name, script, settings, flags = [], { cwd = root, args = [] } = {}) {
    const port = await findFreePort();
    const logFile = join(this.logFolder, `${name}-${port}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(process.execPath, [...flags, resolve(root, script), ...args], {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, BENCH_SECRET, PORT: String(port), ...settings },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const started = { name, child, port, pid: child.pid, url: `http://127.0.0.1:${port}`, logFile };
    this.#running.add(started);
    child.once('exit', () => this.#running.delete(started));
    await untilAccepting(started);
    return started;
  }

  async stop({ child }) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const stopped = once(child, 'exit');
    const late = await Promise.race([stopped, delay(STOP_DEADLINE_MS, 'late', { ref: false })]);
    if (late === 'late') child.kill('SIGKILL');
    await stopped;
  }

  async stopAll() {
    await Promise.all([...this.#running].map((started) => this.stop(started)));
  }
}

/** Waits until a process accepts connections. @throws Error with the end of its log if it does not */
async function untilAccepting({ name, child, port, logFile }) {
  const deadline = Date.now() + READY_DEADLINE_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline)
      throw new Error(`${name} does not run:\n${readFileSync(logFile, 'utf8').slice(-4000)}`);
    if (await accepts(port)) return;
    await delay(20);
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Returns a free port of loopback. */
export async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the resident memory of a process in MB (2^20 bytes). */
export async function residentMB(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const [, kilobytes] = status === null ? [] : (/^VmRSS:\s+(\d+) kB/m.exec(status) ?? []);
  if (kilobytes !== undefined) return Number(kilobytes) / 1024;
  // macOS has no /proc.
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
