import { setTimeout as delay } from 'node:timers/promises';
import { measure, median } from '../measure.mjs';
import { residentMB } from '../memory-of.mjs';
import { row } from '../report.mjs';
import { MIXED_ORDERS, SERVER_KEY } from '../stage.mjs';

const SAMPLE_MS = 1000;

/** Resident memory of the service under a mixed load; `--soak` makes it long enough to show a plateau. */
export async function memory(bench) {
  const { stage, options } = bench;
  const { service } = await stage.databases();
  const measured = await stage.service(service);
  const samples = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      samples.push(Math.round(await residentMB(measured.pid)));
      await delay(SAMPLE_MS);
    }
  })();
  const soak = { ...bench, options: { ...options, rounds: 1, seconds: options.soakSeconds } };
  const { load } = await measure(soak, {
    load: {
      url: measured.url,
      traffic: {
        kind: 'mixed',
        options: { products: options.products, serverKey: SERVER_KEY, orders: MIXED_ORDERS },
      },
      statuses: [200, 201],
    },
  });
  isOver = true;
  await sampling;
  await stage.stop(measured);
  const [second, third, fourth] = [1, 2, 3].map((quarter) => median(quarterOf(samples, quarter)));
  return [
    row(
      `memory under mixed load, ${options.soakSeconds} s`,
      {
        load,
        'second quarter': { value: second, unit: 'MB' },
        'third quarter': { value: third, unit: 'MB' },
        'last quarter': { value: fourth, unit: 'MB', rounds: samples },
        most: { value: Math.max(...samples), unit: 'MB' },
      },
      [{ name: 'last to third quarter', value: fourth / third }],
    ),
  ];
}

function quarterOf(samples, index) {
  const length = Math.max(1, Math.floor(samples.length / 4));
  return samples.slice(index * length, (index + 1) * length);
}
