import { LONG_WARM_UP_SECONDS, measure } from '../measure.mjs';
import { row } from '../report.mjs';

/** Administrators are few. */
const CONNECTIONS = 4;

/** POST /api/products with one JPEG of 30 KB, kept by the local image host. */
export async function create(bench) {
  const { stage } = bench;
  const { service, floors } = await stage.databases();
  const measured = await stage.service(service);
  const f7 = await stage.floor('f7', floors);
  const target = { traffic: { kind: 'creates', options: {} }, connections: CONNECTIONS, status: 201 };
  const figures = await measure(
    bench,
    {
      service: { url: measured.url, ...target },
      F7: { url: f7.url, ...target },
    },
    LONG_WARM_UP_SECONDS,
  );
  await stage.stop(measured, f7);
  return [
    row('product with one image', figures, [
      { name: '/ F7', value: figures.service.perSecond / figures.F7.perSecond, atLeast: 0.5 },
    ]),
  ];
}
