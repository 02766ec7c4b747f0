import { LONG_WARM_UP_SECONDS, measure } from '../measure.mjs';
import { row } from '../report.mjs';

/** POST /api/login with right passwords of 500 accounts. */
export async function login(bench) {
  const { stage } = bench;
  const { service, floors } = await stage.databases();
  const measured = await stage.service(service);
  const f6 = await stage.floor('f6', floors);
  const traffic = { kind: 'logins', options: {} };
  const figures = await measure(
    bench,
    {
      service: { url: measured.url, traffic },
      F6: { url: f6.url, traffic },
    },
    LONG_WARM_UP_SECONDS,
  );
  await stage.stop(measured, f6);
  return [
    row('login', figures, [
      { name: '/ F6', value: figures.service.perSecond / figures.F6.perSecond, atLeast: 0.9 },
    ]),
  ];
}
