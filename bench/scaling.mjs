/**
 * How cost grows with products, orders and processes; not part of `npm run bench`.
 *
 *     node bench/scaling.mjs [--sizes 10000,100000,1000000] [--processes 1,2,4] [--rounds 3] [--seconds 5] [--out FILE]
 *
 * The second part needs nginx, which shares requests out among the processes on one database.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Generator } from './load/generator-process.mjs';
import { measure } from './measure.mjs';
import { freePort, untilAccepting } from './processes.mjs';
import { circumstances, row, tableOf } from './report.mjs';
import { MIXED_ORDERS, SERVER_KEY, Stage } from './stage.mjs';
import { residentMB } from './memory-of.mjs';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    processes: { type: 'string', default: '1,2,4' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    out: { type: 'string', default: 'bench/results-scaling.json' },
  },
});
const numbers = (text) => text.split(',').filter(Boolean).map(Number);
const options = {
  products: 100_000,
  rows: [],
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
};
const log = (line) => console.error(line);

const generator = new Generator();
const stage = await Stage.open(options, log);
const bench = { stage, generator, options, log };
const rows = [];
try {
  for (const size of numbers(values.sizes)) rows.push(await withSize(size));
  const nginx = spawnSync('nginx', ['-v']).error === undefined;
  if (nginx) for (const count of numbers(values.processes)) rows.push(await withProcesses(count));
  else log('no nginx: the processes are left out');
} finally {
  generator.stop();
  await stage.close();
}
await writeFile(values.out, `${JSON.stringify({ ...circumstances(), options, rows }, null, 2)}\n`);
console.log(tableOf(rows));

/** One process on so many products and as many orders. */
async function withSize(size) {
  const database = await stage.catalog(size, size);
  const cached = await stage.service(database);
  const uncached = await stage.service(database, { CATALOG_CACHE_MB: '0' });
  const pages = { kind: 'pages', options: { products: size } };
  const figures = await measure(bench, {
    list: { url: cached.url, traffic: pages },
    'list, cache off': { url: uncached.url, traffic: pages },
    'own orders, first page': { url: cached.url, traffic: { kind: 'own orders', options: {} } },
    'new order': { url: cached.url, traffic: { kind: 'orders', options: { products: size } }, status: 201 },
  });
  figures['memory, caching'] = { value: await residentMB(cached.pid), unit: 'MB' };
  figures['memory, cache off'] = { value: await residentMB(uncached.pid), unit: 'MB' };
  await stage.stop(cached, uncached);
  await stage.dropCatalog(size);
  return row(`${size} products and orders`, figures, []);
}

/** So many processes on one database, behind nginx. */
async function withProcesses(count) {
  const { service: database } = await stage.databases();
  const services = await Promise.all(Array.from({ length: count }, () => stage.service(database)));
  const uncached = await Promise.all(
    Array.from({ length: count }, () => stage.service(database, { CATALOG_CACHE_MB: '0' })),
  );
  const [proxy, proxyOfUncached] = [await startNginx(services), await startNginx(uncached)];
  const pages = { kind: 'pages', options: { products: options.products } };
  const mixed = { products: options.products, serverKey: SERVER_KEY, orders: MIXED_ORDERS };
  const figures = await measure(bench, {
    list: { url: proxy.url, traffic: pages },
    'list, cache off': { url: proxyOfUncached.url, traffic: pages },
    'new order': {
      url: proxy.url,
      traffic: { kind: 'orders', options: { products: options.products } },
      status: 201,
    },
    mixed: { url: proxy.url, traffic: { kind: 'mixed', options: mixed }, statuses: [200, 201] },
  });
  const memory = await Promise.all(services.map(({ pid }) => residentMB(pid)));
  figures['memory of all'] = { value: memory.reduce((sum, megabytes) => sum + megabytes, 0), unit: 'MB' };
  await Promise.all([proxy.stop(), proxyOfUncached.stop()]);
  await stage.stop(...services, ...uncached);
  return row(`${count} processes behind nginx`, figures, []);
}

/** nginx in front of processes, as one would configure it: kept connections, requests to whoever has the fewest. */
async function startNginx(upstreams) {
  const port = await freePort();
  const folder = join(stage.folder, `nginx-${port}`);
  await mkdir(folder);
  const configuration = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    configuration,
    `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  # An upload waits in memory: its workers may not write where this run has its files. No connection ends in a round.
  client_body_buffer_size 128k;
  keepalive_requests 10000000;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  upstream service {
    least_conn;
    keepalive 64;
    ${upstreams.map((upstream) => `server 127.0.0.1:${upstream.port};`).join('\n    ')}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`,
  );
  const child = spawn('nginx', ['-p', folder, '-c', configuration], { stdio: 'ignore' });
  await untilAccepting({ name: 'nginx', child, port, logFile: join(folder, 'error.log') });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
