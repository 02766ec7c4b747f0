/** Compares the service with other shops: a signed-in customer orders three products and pays. See bench/README.md. */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '../load/client.mjs';
import { residentMB, SERVICE_FLAGS } from '../processes.mjs';
import { describeRun } from '../report.mjs';
import { SHOP_PRODUCTS, Stage } from '../stage.mjs';
import { repeat } from './load.mjs';
import { openMedusa } from './medusa.mjs';
import { openService } from './service.mjs';
import { openVendure } from './vendure.mjs';

const openings = { service: openService, vendure: openVendure, medusa: openMedusa };
const CUSTOMERS = 64;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(openings).join(',') },
    seconds: { type: 'string', default: '30' },
    concurrency: { type: 'string', default: '8' },
    /** Folder of the installed packages, which is kept. Without it, a temporary folder is removed at the end. */
    folder: { type: 'string' },
    out: { type: 'string' },
  },
});
const [seconds, concurrency] = [values.seconds, values.concurrency].map(Number);
const log = (line) => console.error(line);
const folder = values.folder ? resolve(values.folder) : await mkdtemp(join(tmpdir(), 'peers-'));
const stage = await Stage.open({ rounds: 1, seconds: 1 }, log);
const client = new Client();
const results = [];
const end = async () => {
  client.close();
  await stage.close();
  if (!values.folder) await rm(folder, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void end().finally(() => process.exit(130)));
try {
  for (const name of values.only.split(',')) results.push(...(await measurePeer(name)));
} finally {
  await end();
}
console.table(Object.fromEntries(results.map(({ name, ...figures }) => [name, figures])));
if (values.out)
  await writeFile(
    values.out,
    `${JSON.stringify({ ...describeRun(), seconds, concurrency, results }, null, 1)}\n`,
  );

/** Measures the order flows of a peer and its logins. */
async function measurePeer(name) {
  const peer = await openings[name]({
    stage,
    client,
    folder,
    log,
    createDatabase,
    customers: CUSTOMERS,
    products: SHOP_PRODUCTS,
    pickProducts,
    secret: randomBytes(32).toString('hex'),
    flags: SERVICE_FLAGS,
  });
  const { started, version, flows, signIn, countPaid } = peer;
  const rows = [];
  for (const [requests, order] of Object.entries(flows)) {
    // Each worker is another customer, because Vendure has one active order for each customer.
    const sessions = await Promise.all(
      Array.from({ length: concurrency }, (_, worker) => signIn(worker + 1)),
    );
    const paidBefore = await countPaid();
    const { warmUp, measured } = await measure(started, (worker) => order(sessions[worker]));
    const paid = (await countPaid()) - paidBefore;
    if (paid !== warmUp.count + measured.count)
      throw new Error(
        `${name}: ${warmUp.count + measured.count} orders were paid, but the database has ${paid}`,
      );
    rows.push(toRow(`${name} ${version}, orders (${requests})`, measured));
  }
  const { measured } = await measure(started, () => signIn(randomInt(1, CUSTOMERS + 1)));
  rows.push(toRow(`${name} ${version}, logins`, measured));
  log(`${name}: ${Math.round(await residentMB(started.pid))} MB after the measurement`);
  await stage.stop(started);
  return rows;
}

/** Runs a task for the seconds of the options, after an uncounted warm-up of a third of that time. */
async function measure({ pid }, task) {
  const warmUp = await repeat({ concurrency, seconds: seconds / 3, pid }, task);
  return { warmUp, measured: await repeat({ concurrency, seconds, pid }, task) };
}

function toRow(name, { count, perSecond, p50Ms, p99Ms, processorMs }) {
  log(`${name}: ${perSecond.toFixed(2)}/s`);
  return {
    name,
    count,
    'per second': Number(perSecond.toPrecision(3)),
    'p50 ms': p50Ms,
    'p99 ms': p99Ms,
    'processor ms': Math.round(processorMs * 10) / 10,
  };
}

async function createDatabase(name) {
  await stage.query(stage.postgres.url, `CREATE DATABASE ${name}`);
  return Object.assign(new URL(stage.postgres.url), { pathname: `/${name}` }).href;
}

function pickProducts() {
  const ids = new Set();
  while (ids.size < 3) ids.add(randomInt(1, SHOP_PRODUCTS + 1));
  return [...ids];
}
