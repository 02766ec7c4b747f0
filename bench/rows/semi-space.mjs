import { setTimeout as delay } from 'node:timers/promises';
import { measure } from '../measure.mjs';
import { residentMB, SERVICE_FLAGS } from '../processes.mjs';
import { ratio, row } from '../report.mjs';
import { SHOP_PRODUCTS } from '../stage.mjs';

const SIZES_MB = [8, 16, 32];
const IDLE_SECONDS = 10;

/** Idle memory, orders, logins and list of the service with `--max-semi-space-size` 8, 16 and 32, in parallel. */
export async function semiSpace(bench) {
  const { stage } = bench;
  const database = await stage.shop();
  const services = [];
  for (const size of SIZES_MB)
    services.push(
      await stage.service(database, { flags: [...SERVICE_FLAGS, `--max-semi-space-size=${size}`] }),
    );
  await delay(IDLE_SECONDS * 1000);
  const idle = await memoryOf(services);
  const products = { products: SHOP_PRODUCTS };
  const rows = [];
  for (const [name, kind, options, status] of [
    ['orders', 'orders', products, 201],
    ['logins', 'logins', {}, 200],
    ['list', 'pages', products, 200],
  ]) {
    const targets = services.map(({ url }, index) => [
      `${SIZES_MB[index]} MB`,
      { url, traffic: { kind, options }, status },
    ]);
    const figures = await measure(bench, Object.fromEntries(targets));
    const [first, ...others] = Object.entries(figures);
    rows.push(
      row(
        `semi-space: ${name}`,
        figures,
        others.map(([size, figure]) => ratio(`${size} to ${first[0]}`, figure, first[1])),
      ),
    );
  }
  const busy = await memoryOf(services);
  await stage.stop(...services);
  return [
    ...rows,
    row('semi-space: memory, idle', idle, []),
    row('semi-space: memory, after load', busy, []),
  ];
}

async function memoryOf(services) {
  const sizes = await Promise.all(services.map(({ pid }) => residentMB(pid)));
  return Object.fromEntries(
    sizes.map((value, index) => [`${SIZES_MB[index]} MB`, { value, unit: 'MB resident' }]),
  );
}
