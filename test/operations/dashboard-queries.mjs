/**
 * Runs every query of the dashboard and of the alert rules on a real Prometheus that scrapes the service under a small
 * load: `npm run check:dashboard -- [seconds of load]`. Prints the number of series of each query. Needs the program
 * `prometheus` (Debian's package has the same name).
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runLoad } from './small-load.mjs';

const SECONDS = Number(process.argv[2] ?? 25);
const ADMIN = { email: 'admin@bakery.example', password: 'open sesame' };
/** Panels without data, because the service is healthy and the simulator needs no calls of the payment gateway. */
const MAY_BE_EMPTY = new Set(['5xx by route', 'Gateway calls, p95']);
/** Metrics of node_exporter, which does not run here. */
const NODE_EXPORTER = /^node_/;
const RATE_INTERVAL = '15s';

if (spawnSync('prometheus', ['--version']).error !== undefined) {
  console.error("prometheus is not installed (Debian's package has that name): nothing was checked");
  process.exit(1);
}

const folder = await mkdtemp(join(tmpdir(), 'bakery-dashboard-'));
// The embedded server runs as another user when this runs as root.
await chmod(folder, 0o755);
const [port, metricsPort, prometheusPort] = [await freePort(), await freePort(), await freePort()];
const url = `http://127.0.0.1:${port}`;
const prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
const children = [];
let failures = 0;
try {
  start(process.execPath, ['dist/src/main.js'], {
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: url,
    METRICS_PORT: String(metricsPort),
    DATA_DIR: folder,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  await copyFile('deploy/prometheus/alerts.yml', join(folder, 'alerts.yml'));
  await writeFile(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{ job_name: 'bakery', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
    }),
  );
  await until('the service is ready', () => respondsWithSuccess(`${url}/api/health/ready`));
  start('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
    '--log.level=error',
  ]);
  await until('Prometheus is ready', () => respondsWithSuccess(`${prometheusUrl}/-/ready`));
  console.log(`load of ${SECONDS} seconds ...`);
  console.log(`${await runLoad(url, ADMIN, SECONDS * 1000)} requests\n`);
  await checkDashboard();
  await checkAlerts();
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  await rm(folder, { recursive: true, force: true });
}
console.log(`\n${failures} failures`);
process.exit(failures === 0 ? 0 : 1);

async function checkDashboard() {
  const { panels } = JSON.parse(await readFile('deploy/grafana/dashboards/bakery.json', 'utf8'));
  for (const { title, type, targets = [] } of panels) {
    if (type === 'row') console.log(`\n${title}`);
    for (const { expr } of targets) {
      const query = expr.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll('$instance', '.*');
      const series = await runQuery(query);
      const numbers = series.filter(({ value: [, text] }) => Number.isFinite(Number(text)));
      const hasPassed = numbers.length > 0 || MAY_BE_EMPTY.has(title);
      report(hasPassed, title, `${series.length} series, ${numbers.length} with a number`);
    }
  }
}

/** Checks that no alert fires and that the metrics of each rule exist. A rule without an alert has no series. */
async function checkAlerts() {
  console.log('\nAlerts');
  const { groups } = await callApi('/api/v1/rules');
  for (const { name, query, health, state } of groups.flatMap(({ rules }) => rules)) {
    const metrics = [...new Set(query.match(/\b[a-z]\w*(?=\{)|\bbakery_\w+/g))];
    const ownMetrics = metrics.filter((metric) => !NODE_EXPORTER.test(metric));
    const exist = await Promise.all(ownMetrics.map(async (metric) => (await runQuery(metric)).length > 0));
    const hasPassed = health === 'ok' && state !== 'firing' && exist.every(Boolean);
    report(hasPassed, name, `${state}, ${metrics.join(', ')}`);
  }
}

function report(hasPassed, title, text) {
  if (!hasPassed) failures += 1;
  console.log(`  ${hasPassed ? 'ok  ' : 'FAIL'} ${title.padEnd(28)} ${text}`);
}

async function runQuery(query) {
  return (await callApi(`/api/v1/query?query=${encodeURIComponent(query)}`)).result;
}

async function callApi(path) {
  const response = await (await fetch(prometheusUrl + path)).json();
  if (response.status !== 'success') throw new Error(`${path}: ${response.error}`);
  return response.data;
}

function start(command, args, settings = {}) {
  const { PATH, HOME } = process.env;
  const child = spawn(command, args, {
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  children.push(child);
}

async function respondsWithSuccess(address) {
  return fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function until(description, isReached) {
  const deadline = Date.now() + 60_000;
  while (!(await isReached())) {
    if (Date.now() > deadline) throw new Error(`not within a minute: ${description}`);
    await delay(200);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
