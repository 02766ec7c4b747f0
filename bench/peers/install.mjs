import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Installs packages into a folder, unless it contains them already. @returns the version of the first package */
export function install(folder, packages, log) {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'node_modules'))) {
    log(`installing ${packages.join(' ')}`);
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const name = packages[0].replace(/(?<=.)@[^@/]*$/, '');
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** Copies a file of this folder to the folder of a peer, where its imports find the peer's packages. */
export function copy(source, target) {
  cpSync(join(import.meta.dirname, source), target);
}

/** Runs a script of a peer to its end. @returns its output */
export function runScript(folder, args, settings) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...settings };
  return execFileSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
