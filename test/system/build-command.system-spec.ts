import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useFolder } from '../support/process.js';
import { inParallel } from '../support/wait.js';

/** Fake compiler: removes the previous build, takes 300 ms, and records each build. Fails if `src/broken` exists. */
const COMPILER = `
const fs = require('node:fs');
fs.rmSync('dist', { recursive: true, force: true });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
fs.mkdirSync('dist/src', { recursive: true });
fs.writeFileSync('dist/src/main.js', '');
fs.appendFileSync('builds', process.pid + '\\n');
process.exitCode = fs.existsSync('src/broken') ? 1 : 0;
`;

let folder: string;
const at = (path: string): string => join(folder, path);

beforeEach(async () => {
  folder = await useFolder('bakery-build-');
  await cp('scripts', at('scripts'), { recursive: true });
  await mkdir(at('src'));
  await mkdir(at('node_modules/@nestjs/cli/bin'), { recursive: true });
  await writeFile(at('node_modules/@nestjs/cli/bin/nest.js'), COMPILER);
});

/** Runs the script that builds if sources changed. `hasBuild` is true if a build exists when the script ends. */
async function runBuildScript(): Promise<{ code: number; hasBuild: boolean }> {
  const script = spawn(process.execPath, [at('scripts/build-if-changed.mjs')], { stdio: 'ignore' });
  const [code] = (await once(script, 'exit')) as [number];
  return { code, hasBuild: existsSync(at('dist/src/main.js')) };
}

async function countBuilds(): Promise<number> {
  return (await readFile(at('builds'), 'utf8')).trim().split('\n').length;
}

const endedProcess = spawnSync(process.execPath, ['-e', '']).pid;

it.each([
  ['after', String(endedProcess)],
  ['before', ''],
])(
  'concurrent runs replace the lock of a process that was killed %s it wrote its id, and share one build',
  async (_, lock) => {
    await writeFile(at('.build-lock'), lock);
    const results = await inParallel(4, runBuildScript);
    expect(results).toEqual(Array(4).fill({ code: 0, hasBuild: true }));
    expect(await countBuilds()).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('.build-lock'))).toEqual([]);
  },
);

it('a run of the script builds only if the sources have changed', async () => {
  await runBuildScript();
  await runBuildScript();
  expect(await countBuilds()).toBe(1);
  await writeFile(at('src/changed'), '');
  await runBuildScript();
  expect(await countBuilds()).toBe(2);
});

it('a failed build is repeated by the next run of the script', async () => {
  await writeFile(at('src/broken'), '');
  expect((await runBuildScript()).code).toBe(1);
  expect((await runBuildScript()).code).toBe(1);
  expect(await countBuilds()).toBe(2);
});

it('npm start without a compiler fails and explains how to build, unless a build exists', async () => {
  await rm(at('node_modules'), { recursive: true });
  await cp('package.json', at('package.json'));
  const { status, stderr } = spawnSync('npm', ['start'], { cwd: folder, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('There is no build in dist/');
  expect(stderr).toContain('npm ci && npm run build');
  await mkdir(at('dist/src'), { recursive: true });
  await writeFile(at('dist/src/main.js'), 'console.log("started")');
  expect(spawnSync('npm', ['start'], { cwd: folder, encoding: 'utf8' }).stdout).toContain('started');
});

it('every npm script that runs Node, the compiler or the linter rejects a Node that is too old, with one line', async () => {
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
  const { scripts } = manifest;
  const oldNode = at('old-node.cjs');
  const versions = `{ value: { ...process.versions, node: '20.18.3' } }`;
  await writeFile(oldNode, `Object.defineProperty(process, 'versions', ${versions})`);
  const names = Object.keys(scripts).filter((name) => /\b(node|nest|tsc|eslint) /.test(scripts[name] ?? ''));
  expect(names).toEqual(expect.arrayContaining(['start', 'dev', 'build', 'test', 'admin', 'db', 'lint']));
  for (const name of names) {
    // The first command of the script, or of its `pre` script if there is one, checks the version.
    const [command = ''] = (scripts[`pre${name}`] ?? scripts[name] ?? '').split(' && ');
    const env = { PATH: process.env.PATH, NODE_OPTIONS: `--require=${oldNode}` };
    const { status, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
    const line = 'This service needs Node 20.19 or later, this is 20.18.3.\n';
    expect({ name, status, stderr }).toEqual({ name, status: 1, stderr: line });
  }
});
