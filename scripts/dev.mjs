// `npm run dev`: rebuilds on every change, and restarts the service after each build that succeeds. `nest start --watch`
// does so too, but ends all its child processes at once: the embedded PostgreSQL ends before the service, which then
// reports that it lost its database.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const BUILT = /Found 0 errors\. Watching/;

process.chdir(join(import.meta.dirname, '..'));
const compiler = spawn(
  process.execPath,
  [join('node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), 'build', '--watch', '--preserveWatchOutput'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
let service;
let isEnding = false;
let restarting = Promise.resolve();

compiler.stdout.on('data', (output) => {
  process.stdout.write(output);
  if (BUILT.test(output)) restarting = restarting.then(restart);
});
compiler.on('exit', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);

async function restart() {
  await stop();
  if (isEnding) return;
  service = spawn(process.execPath, ['--enable-source-maps', join('dist', 'src', 'main.js')], {
    stdio: 'inherit',
  });
}

/** Waits until the service has stopped, its database included. */
async function stop() {
  if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
  service.kill('SIGTERM');
  await once(service, 'exit');
}

function end() {
  if (isEnding) return;
  isEnding = true;
  compiler.kill('SIGTERM');
  restarting.then(stop).then(() => process.exit(compiler.exitCode ?? 0));
}
