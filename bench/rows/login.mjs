import { measure } from '../measure.mjs';
import { buildRatio, buildRow } from '../report.mjs';

/** POST /api/login with correct passwords of 500 accounts. Floor F6 is a minimal login. */
export async function login(bench) {
  const { stage } = bench;
  const database = await stage.createShopDatabase();
  const service = await stage.startService(database);
  const f6 = await stage.startFloor('f6', database);
  const traffic = { kind: 'logins', options: {} };
  const figures = await measure(bench, {
    service: { url: service.url, traffic },
    F6: { url: f6.url, traffic },
  });
  await stage.stop(service, f6);
  return [buildRow('login', figures, [buildRatio('/ F6', figures.service, figures.F6, { atLeast: 0.5 })])];
}
