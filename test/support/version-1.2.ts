import { execFile } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { reportSkipped } from './installed.js';
import { createWorldReadableFolder } from './process.js';

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

/** Returns true if this clone contains version 1.2. If it does not, prints a line. In CI, throws Error instead. */
export async function hasVersion12(): Promise<boolean> {
  try {
    await run('git', ['cat-file', '-e', `${COMMIT}^{commit}`]);
    return true;
  } catch {
    reportSkipped(`this clone has no commit ${COMMIT}, the last one of version 1.2`);
    return false;
  }
}

/** Builds version 1.2 from the git history with the current packages. Returns the folder that contains `dist`. */
export async function buildVersion12(): Promise<string> {
  const folder = await createWorldReadableFolder('bakery-1.2-');
  try {
    const archive = join(folder, 'sources.tar');
    await run('git', ['archive', '-o', archive, COMMIT, ...SOURCES]);
    await run('tar', ['-xf', archive, '-C', folder]);
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const nest = resolve('node_modules/@nestjs/cli/bin/nest.js');
    await run(process.execPath, [nest, 'build'], { cwd: folder });
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
}
