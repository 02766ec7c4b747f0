// Lints the OpenAPI document of the build with Redocly and Spectral. Needs neither a database nor the network.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'bakery-openapi-'));
const document = join(folder, 'openapi.json');

/** Redocly would otherwise check for updates and report usage statistics. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

try {
  const printer = join(root, 'scripts', 'print-openapi.mjs');
  writeFileSync(document, execFileSync(process.execPath, [printer], { maxBuffer: 64 * 1024 * 1024 }));
  const isClean = [
    run('redocly', 'lint', document, '--config', join(root, 'redocly.yaml'), '--format', 'stylish'),
    run('spectral', 'lint', document, '--ruleset', join(root, '.spectral.yaml')),
  ].every(Boolean);
  process.exitCode = isClean ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

function run(command, ...args) {
  const { status } = spawnSync(join(root, 'node_modules', '.bin', command), args, {
    stdio: 'inherit',
    env: { ...process.env, ...OFFLINE },
  });
  return status === 0;
}
