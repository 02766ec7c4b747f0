import { execFile, spawnSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeUnless } from './installed.js';
import { useFolder } from './process.js';

const run = promisify(execFile);
/** The last commit of version 1.2. */
const COMMIT = '238e700';
const SOURCES = [
  'src',
  'migrations',
  'package.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Like `describe`, but skips the tests if git finds no version 1.2 (see `describeUnless`). */
export function describeWithVersion12(subject: string, suite: () => void): void {
  const { status, stderr, error } = spawnSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], {
    encoding: 'utf8',
  });
  const reason = `git finds no version 1.2, whose last commit is ${COMMIT}: ${error?.message ?? stderr.trim()}`;
  describeUnless(status === 0 ? null : reason, subject, suite);
}

/**
 * Builds version 1.2 from the git history with the current packages. The development dependencies helmet and cookie-parser are
 * only for version 1.2. Returns the folder that contains `dist`.
 */
export async function buildVersion12(): Promise<string> {
  const folder = await useFolder('bakery-1.2-');
  const archive = join(folder, 'sources.tar');
  await run('git', ['archive', '-o', archive, COMMIT, ...SOURCES]);
  await run('tar', ['-xf', archive, '-C', folder]);
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const nest = resolve('node_modules/@nestjs/cli/bin/nest.js');
  await run(process.execPath, [nest, 'build'], { cwd: folder });
  return folder;
}
