import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { until } from './wait.js';

/** A command of the build as a process of its own. */
export interface BuiltProcess {
  readonly child: ChildProcess;
  /** All that it printed so far. */
  output(): string;
  /** Exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts `node dist/<path>` with these settings and no other of ours. */
export function spawnBuilt(
  path: string,
  settings: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): BuiltProcess {
  const child = spawn(process.execPath, [`dist/${path}`, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return {
    child,
    output: () => output,
    exited: once(child, 'close').then(([code]) => code as number | null),
  };
}

/** Longer than any start takes on a machine that others keep busy. */
const START_DEADLINE_MS = 60_000;

/** Waits until a service process answers requests. */
export async function untilListening(service: BuiltProcess, url: string): Promise<void> {
  try {
    await until(
      'the service answers',
      () => {
        if (service.child.exitCode !== null) throw new Error('the service ended');
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

/**
 * A port that was free a moment ago, outside of the range of outgoing connections: one to a service that is down could
 * connect to itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
