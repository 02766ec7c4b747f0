import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Stands in for the compiler: removes the build before, takes a while, and notes who built. */
const COMPILER = `
const fs = require('node:fs');
fs.rmSync('dist', { recursive: true, force: true });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
fs.mkdirSync('dist');
fs.writeFileSync('dist/main.js', '');
fs.appendFileSync('builds', process.pid + '\\n');
process.exitCode = fs.existsSync('src/broken') ? 1 : 0;
`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bakery-build-'));
  await cp('scripts/build-if-changed.mjs', join(folder, 'scripts/build-if-changed.mjs'));
  await mkdir(join(folder, 'src'));
  await mkdir(join(folder, 'node_modules/@nestjs/cli/bin'), { recursive: true });
  await writeFile(join(folder, 'node_modules/@nestjs/cli/bin/nest.js'), COMPILER);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the script; the exit code, and whether the build was there when it ended. */
async function build(): Promise<{ code: number; isThere: boolean }> {
  const script = spawn(process.execPath, [join(folder, 'scripts/build-if-changed.mjs')], { stdio: 'ignore' });
  const [code] = (await once(script, 'exit')) as [number];
  const isThere = await access(join(folder, 'dist/main.js')).then(
    () => true,
    () => false,
  );
  return { code, isThere };
}

async function builds(): Promise<number> {
  return (await readFile(join(folder, 'builds'), 'utf8')).trim().split('\n').length;
}

it('of several commands at the same time one builds, and none goes on without a build', async () => {
  const ended = spawnSync(process.execPath, ['-e', '']).pid;
  await writeFile(join(folder, '.build-lock'), String(ended)); // what a build that was killed leaves
  const results = await Promise.all([build(), build(), build(), build()]);
  expect(results).toEqual(Array(4).fill({ code: 0, isThere: true }));
  expect(await builds()).toBe(1);
  await build();
  expect(await builds()).toBe(1);
  await writeFile(join(folder, 'src/changed'), '');
  await build();
  expect(await builds()).toBe(2);
  expect((await readdir(folder)).filter((name) => name.startsWith('.build-lock'))).toEqual([]);
});

it('a build that failed is not taken for one', async () => {
  await writeFile(join(folder, 'src/broken'), '');
  expect((await build()).code).toBe(1);
  expect((await build()).code).toBe(1);
  expect(await builds()).toBe(2);
});

it('npm start without a build and without the compiler ends, and says how to get a build', async () => {
  await rm(join(folder, 'node_modules'), { recursive: true });
  await cp('package.json', join(folder, 'package.json'));
  const { status, stderr } = spawnSync('npm', ['start'], { cwd: folder, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('There is no build in dist/');
  expect(stderr).toContain('npm ci && npm run build');
  await mkdir(join(folder, 'dist/src'), { recursive: true });
  await writeFile(join(folder, 'dist/src/main.js'), 'console.log("started")');
  expect(spawnSync('npm', ['start'], { cwd: folder, encoding: 'utf8' }).stdout).toContain('started');
});
