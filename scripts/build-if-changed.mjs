// Builds `dist/` if the sources have changed since the last build. Concurrent processes take turns, because a build first
// removes the previous one.
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const INPUTS = [
  'src',
  'migrations',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const STAMP = join('dist', '.sources');
const LOCK = '.build-lock';
const POLL_MS = 100;

process.chdir(join(import.meta.dirname, '..'));

// A deployment contains the build, but not the sources or the compiler.
if (!existsSync('src') || !existsSync(join('node_modules', '@nestjs', 'cli'))) {
  if (existsSync(join('dist', 'src', 'main.js'))) process.exit(0);
  console.error(
    'There is no build in dist/, and the compiler is not installed. Build first, then remove the packages that only the build needs:\n' +
      '  npm ci && npm run build && npm prune --omit=dev',
  );
  process.exit(1);
}

const hash = createHash('sha256').update(process.version);
for (const file of INPUTS.flatMap(listFiles).sort()) {
  hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
}
const sourceHash = hash.digest('hex');
if (isBuilt()) process.exit(0);
lock();
try {
  process.exitCode = isBuilt() ? 0 : build();
} finally {
  rmSync(LOCK, { force: true });
}

function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourceHash;
}

function build() {
  console.log('building ...');
  const nest = join('node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build'], { stdio: 'inherit' });
  if (status === 0) writeFileSync(STAMP, sourceHash);
  return status ?? 1;
}

/** Waits until no running process holds the lock, and takes it. */
function lock() {
  for (let hasLogged = false; ;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // Also pause with the lock: a process that has read the id of a dead holder may still remove the lock.
    sleep(POLL_MS);
    const holder = readHolder();
    if (holder === process.pid) return;
    if (holder === undefined) continue; // Released meanwhile.
    if (!isAlive(holder)) rmSync(LOCK, { force: true });
    else if (!hasLogged) {
      console.log(`waiting for the build of process ${holder} (${LOCK})`);
      hasLogged = true;
    }
  }
}

function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** @returns the id of the process that holds the lock, or undefined if none does */
function readHolder() {
  try {
    return Number(readFileSync(LOCK, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid) {
  // The lock is empty if its process was killed before it wrote its id.
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function listFiles(path) {
  if (!existsSync(path)) return [];
  const isFile = path.includes('.');
  if (isFile) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
