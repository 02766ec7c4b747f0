import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopAfterUse } from './stop-after-use.js';
import { until } from './wait.js';

/** Process that runs a program of the build: the service or a command. */
export type BuiltProcess = Readonly<ReturnType<typeof spawnBuilt>>;

/** Starts `node dist/<path>` with these settings and without the settings of this process. */
export function spawnBuilt(
  path: string,
  settings: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  buildFolder = '.',
) {
  const child = spawn(process.execPath, [join(buildFolder, 'dist', path), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    child,
    output: () => output,
    /** Exit code; null if a signal ended the process. */
    exited: once(child, 'close').then(([code]) => code as number | null),
  };
}

/** Runs a command of the build and waits until the command ends. */
export async function runBuilt(...parameters: Parameters<typeof spawnBuilt>) {
  const command = spawnBuilt(...parameters);
  return { code: await command.exited, output: command.output() };
}

/** Runs a command of the build and expects this exit code. Returns the output. */
export async function expectExit(
  exitCode: number,
  ...parameters: Parameters<typeof spawnBuilt>
): Promise<string> {
  const { code, output } = await runBuilt(...parameters);
  expect({ code, output }).toMatchObject({ code: exitCode });
  return output;
}

const START_DEADLINE_MS = 60_000;

/** Waits until a service process responds to requests. */
export async function waitUntilListening(service: BuiltProcess, url: string): Promise<void> {
  try {
    await until(
      'the service responds',
      () => {
        const { exitCode, signalCode } = service.child;
        if (exitCode !== null || signalCode !== null) throw new Error('the service ended');
        return fetch(`${url}/api/health/live`).then(
          (response) => response.ok,
          () => false,
        );
      },
      START_DEADLINE_MS,
    );
  } catch (error) {
    throw new Error(`no service at ${url}; it printed\n${service.output()}`, { cause: error });
  }
}

/** Waits until a service reports that its database and its queue work. */
export async function waitUntilReady(url: string): Promise<void> {
  await until('the service is ready', async () => (await fetch(`${url}/api/health/ready`)).ok);
}

/**
 * Creates a temporary folder, which is removed after its use. Every user can read it: if root runs the tests, database servers
 * run as another user.
 */
export async function useFolder(prefix: string): Promise<string> {
  const remove = (path: string) => rm(path, { recursive: true, force: true });
  const folder = await stopAfterUse(mkdtemp(join(tmpdir(), prefix)), remove);
  await chmod(folder, 0o755);
  return folder;
}

/**
 * Returns a free port below the range of outgoing connections. A client of a stopped service gets a local port from that
 * range. If the port of the service were in the range too, the client could get the same port and connect to itself.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
