import { setTimeout as delay } from 'node:timers/promises';
import { measure, median } from '../measure.mjs';
import { residentMB } from '../processes.mjs';
import { buildRow } from '../report.mjs';
import { SERVER_KEY, SHOP_PRODUCTS } from '../stage.mjs';

const SAMPLE_MS = 1000;
/** Number of different orders that the mixed load pays. An order may be paid more than once. */
const PAID_ORDERS = 10_000;

/** Resident memory of the service under a mixed load, by quarters of the run. `--soak` is long enough to show a plateau. */
export async function memory(bench) {
  const { stage, options } = bench;
  const service = await stage.startService(await stage.createShopDatabase());
  const samples = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      samples.push(Math.round(await residentMB(service.pid)));
      await delay(SAMPLE_MS);
    }
  })();
  const soak = { ...bench, options: { ...options, rounds: 1, seconds: options.soakSeconds } };
  const mixed = { products: SHOP_PRODUCTS, serverKey: SERVER_KEY, orders: PAID_ORDERS };
  const { load } = await measure(soak, {
    load: { url: service.url, traffic: { kind: 'mixed', options: mixed }, statuses: [200, 201] },
  });
  isOver = true;
  await sampling;
  await stage.stop(service);
  const quarters = [0, 1, 2, 3].map((index) => median(takeQuarter(samples, index)));
  const [, , third, fourth] = quarters;
  const figures = Object.fromEntries(
    quarters.map((value, index) => [`quarter ${index + 1}`, { value, unit: 'MB' }]),
  );
  return [
    buildRow(
      `memory under mixed load, ${options.soakSeconds} s`,
      { load, ...figures, maximum: { value: Math.max(...samples), unit: 'MB' } },
      [{ name: 'last to third quarter', value: fourth / third }],
    ),
  ];
}

function takeQuarter(samples, index) {
  const length = Math.max(1, Math.floor(samples.length / 4));
  return samples.slice(index * length, (index + 1) * length);
}
