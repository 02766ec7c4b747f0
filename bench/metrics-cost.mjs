/**
 * What METRICS_PORT costs the product list: requests a second of two processes of the build, one with and one without
 * metrics, in turns. `npm run build` first, then `node bench/metrics-cost.mjs [rounds]`.
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = 3;
const PRODUCTS = 60;
const ADMIN = { email: 'admin@bakery.example', password: 'open sesame' };

async function start(port, settings) {
  const folder = await mkdtemp(join(tmpdir(), 'bakery-cost-'));
  await chmod(folder, 0o755);
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['dist/src/main.js'], {
    env: {
      PATH,
      HOME,
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: folder,
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      ...settings,
    },
    stdio: 'inherit',
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/api/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await delay(100);
  const login = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(ADMIN),
  });
  const cookie = login.headers.getSetCookie()[0].split(';', 1)[0];
  for (let index = 0; index < PRODUCTS; index += 1) {
    const body = new FormData();
    for (const [name, value] of Object.entries({ name: 'Kue', description: 'Lapis', price: '1' }))
      body.set(name, value);
    await fetch(`${url}/api/products`, { method: 'POST', headers: { cookie }, body });
  }
  return {
    measure: async () => {
      const { requests } = await autocannon({
        url: `${url}/api/products`,
        headers: { cookie },
        connections: 16,
        duration: SECONDS,
      });
      return requests.average;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const services = [await start(3391, {}), await start(3392, { METRICS_PORT: '3393' })];
const ratios = [];
try {
  for (const service of services) await service.measure();
  for (let round = 0; round < ROUNDS; round += 1) {
    const [without, having] = [await services[0].measure(), await services[1].measure()];
    ratios.push(having / without);
    console.log(
      `without ${without.toFixed(0)}/s, with ${having.toFixed(0)}/s, ratio ${(having / without).toFixed(3)}`,
    );
  }
} finally {
  for (const service of services) await service.stop();
}
console.log(`median ratio ${ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)].toFixed(3)}`);
