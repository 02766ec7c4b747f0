import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../load/client.mjs';
import { Morning } from '../load/day-traffic.mjs';
import { residentMB } from '../processes.mjs';
import { buildRow } from '../report.mjs';
import { SERVER_KEY, SHOP_PRODUCTS } from '../stage.mjs';

const HOUR_S = 60 * 60;
const VISITORS = 2_000;
const CUSTOMERS = 500;
/** Length of the whole hour in the benchmark. */
const WHOLE_S = 180;
const SPEED = HOUR_S / WHOLE_S;
/** Two months of the shop. */
const EARLIER_ORDERS = 20_000;

/**
 * A morning hour with 2,000 visitors and 500 orders, played 20 times as fast. Visitors arrive at random times and wait for
 * each response. A row of fewer seconds plays the beginning of the hour.
 */
export async function day({ stage, options, log }) {
  const database = await stage.createSalesDatabase(EARLIER_ORDERS);
  // Otherwise today's sheet would list the orders of a month as overdue.
  const earlier = "coalesce(pickup_at, first_paid_at) < now() - interval '1 day'";
  await stage.query(database, `UPDATE orders SET fulfilment = 'collected' WHERE ${earlier}`);
  const service = await stage.startService(database, { CATALOG_ACCESS: 'public', TRUSTED_PROXIES: '1' });
  const memoryBefore = await residentMB(service.pid);
  const { durations, problems, customers } = await play(service.url, options.daySeconds, log);
  const memoryAfter = await residentMB(service.pid);
  await stage.stop(service);
  problems.push(...(await findLostOrders(stage, database, customers)));
  const figures = {
    ...Object.fromEntries(Object.entries(durations).map(([kind, times]) => [kind, summarize(times)])),
    all: { value: Object.values(durations).flat().length, unit: 'requests', problems },
    'memory before': { value: memoryBefore, unit: 'MB' },
    'memory after': { value: memoryAfter, unit: 'MB' },
  };
  return [buildRow(`day, ${customers} orders, ${SPEED} × as fast`, figures, [])];
}

async function play(url, seconds, log) {
  const client = new Client();
  const durations = {};
  const problems = new Map();
  const check = (isTrue, problem) => {
    if (!isTrue) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  };
  const send = async (kind, request, statuses) => {
    const response = await client.send(url + request.path, request);
    (durations[kind] ??= []).push(response.ms);
    if (!statuses.includes(response.status)) throw new Error(`${kind}: status ${response.status}`);
    return response;
  };
  // A failed request ends the visit.
  const record = (person) => person.catch((error) => check(false, error.message));
  const morning = new Morning({ send, check, speed: SPEED, serverKey: SERVER_KEY, products: SHOP_PRODUCTS });
  const visitors = Math.ceil((VISITORS * seconds) / WHOLE_S);
  const customerEvery = VISITORS / CUSTOMERS;
  let isOver = false;
  const staff = record(morning.work(() => isOver));
  log(`  ${visitors} visitors in ${seconds} s`);
  await Promise.all(
    Array.from({ length: visitors }, async (_, visitor) => {
      await delay(Math.random() * seconds * 1000);
      await record(morning.visit(visitor, visitor % customerEvery === 0 ? visitor / customerEvery : null));
    }),
  );
  isOver = true;
  await staff;
  client.close();
  return {
    durations,
    problems: [...problems].map(([problem, count]) => `${count} × ${problem}`),
    customers: Math.ceil(visitors / customerEvery),
  };
}

/** Returns a problem unless every order of the morning was paid with one notification, and collected. */
async function findLostOrders(stage, database, customers) {
  const [counts] = await stage.query(
    database,
    `SELECT count(*)::integer AS placed,
            (count(*) FILTER (WHERE status = 'settlement'))::integer AS paid,
            (count(*) FILTER (WHERE fulfilment = 'collected'))::integer AS collected,
            (SELECT count(*)::integer FROM payment_notifications WHERE outcome = 'applied') AS applied
     FROM orders WHERE idempotency_key IS NOT NULL`,
  );
  return Object.entries(counts)
    .filter(([, count]) => count !== customers)
    .map(([step, count]) => `${count} of ${customers} orders ${step}`);
}

function summarize(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const round = (ms) => Math.round(ms * 10) / 10;
  return {
    count: sorted.length,
    p50Ms: round(quantile(0.5)),
    p99Ms: round(quantile(0.99)),
    maxMs: round(sorted.at(-1)),
  };
}
