import { measure } from '../measure.mjs';
import { ratio, row } from '../report.mjs';

/** POST /api/login with correct passwords of 500 accounts. */
export async function login(bench) {
  const { stage } = bench;
  const database = await stage.shop();
  const service = await stage.service(database);
  const f6 = await stage.floor('f6', database);
  const traffic = { kind: 'logins', options: {} };
  const figures = await measure(bench, {
    service: { url: service.url, traffic },
    F6: { url: f6.url, traffic },
  });
  await stage.stop(service, f6);
  return [row('login', figures, [ratio('/ F6', figures.service, figures.F6, { atLeast: 0.8 })])];
}
