// `npm run dev`: rebuilds on every change and restarts the service after each successful build. `nest start --watch` is not
// used because it kills the embedded PostgreSQL before the service. The service would then report a lost database.
import './require-node.mjs';
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

/** Stops the service and waits until the service and its embedded database have ended. */
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
