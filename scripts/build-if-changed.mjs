// Builds `dist/` unless it already is the build of these very sources, so that a second start is quick.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

process.chdir(join(import.meta.dirname, '..'));

// A deployment ships the build without its sources and compiler.
if (!existsSync('src') || !existsSync(join('node_modules', '@nestjs', 'cli'))) process.exit(0);

const hash = createHash('sha256').update(process.version);
for (const file of INPUTS.flatMap(filesUnder).sort()) {
  hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
}
const sources = hash.digest('hex');
if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources) process.exit(0);

console.log('building ...');
const build = spawnSync(
  process.execPath,
  [join('node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), 'build'],
  {
    stdio: 'inherit',
  },
);
if (build.status !== 0) process.exit(build.status ?? 1);
writeFileSync(STAMP, sources);

function filesUnder(path) {
  if (!existsSync(path)) return [];
  return path.includes('.')
    ? [path]
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
}
