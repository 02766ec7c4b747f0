import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../measure.mjs';
import { findFreePort, residentMB, SERVICE_FLAGS } from '../processes.mjs';
import { buildRow } from '../report.mjs';
import { START_FOLDER } from '../stage.mjs';

const root = join(import.meta.dirname, '../..');
const STARTS = 5;
const IDLE_SECONDS = 10;
const DEADLINE_MS = 60_000;
/** Newer versions of Node take about 15 MB more for the same program. */
const MAX_IDLE_MB = process.versions.node.startsWith('20.') ? 145 : 165;

/** Start of the service like `npm start`, with the embedded PostgreSQL and existing data. */
export async function start({ stage, log }) {
  const dataDir = join(stage.folder, START_FOLDER);
  const first = await startOnce(dataDir);
  log(`  first start ${first.seconds.toFixed(2)} s`);
  await stop(first.child);
  const seconds = [];
  const idleMB = [];
  for (let count = 1; count <= STARTS; count += 1) {
    const again = await startOnce(dataDir);
    seconds.push(again.seconds);
    log(`  start ${count}: ${again.seconds.toFixed(2)} s`);
    await delay(IDLE_SECONDS * 1000);
    idleMB.push(await residentMB(again.child.pid));
    await stop(again.child);
  }
  const figures = {
    'first start': { value: first.seconds, unit: 's' },
    'second start': { value: median(seconds), unit: 's', rounds: seconds },
    'idle memory': { value: median(idleMB), unit: 'MB', rounds: idleMB },
  };
  return [
    buildRow('second start to first response', figures, [
      { name: 's', value: median(seconds), atMost: 1.4 },
      { name: 'MB, idle', value: median(idleMB), atMost: MAX_IDLE_MB },
    ]),
  ];
}

async function startOnce(dataDir) {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...SERVICE_FLAGS, 'dist/src/main.js'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
    },
    stdio: 'ignore',
  });
  while (!(await isLive(port))) {
    if (child.exitCode !== null || performance.now() - startedAt > DEADLINE_MS) {
      child.kill('SIGTERM');
      throw new Error('the service does not start');
    }
    await delay(5);
  }
  return { child, seconds: (performance.now() - startedAt) / 1000 };
}

async function isLive(port) {
  return fetch(`http://127.0.0.1:${port}/api/health/live`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

async function stop(child) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
