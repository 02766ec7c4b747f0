import { measure } from '../measure.mjs';
import { buildRow } from '../report.mjs';

const ORDERS = 200_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Day sheet of 300 orders and sales of a year, each requested by one administrator. */
export async function reports(bench) {
  const { stage } = bench;
  const service = await stage.startService(await stage.createSalesDatabase(ORDERS));
  const [yesterday, lastYear] = [1, 365].map(formatDaysAgo);
  const target = (path) => ({
    url: service.url,
    traffic: { kind: 'report', options: { path } },
    connections: 1,
  });
  const figures = await measure(bench, {
    'day sheet': target(`/api/admin/days/${yesterday}`),
    'year of sales': target(`/api/admin/sales?from=${lastYear}&to=${yesterday}`),
  });
  await stage.stop(service);
  return [
    buildRow(`reports, ${ORDERS} orders`, figures, [
      { name: 'day sheet, p50 ms', value: figures['day sheet'].p50Ms, aim: 50 },
      { name: 'year of sales, p50 ms', value: figures['year of sales'].p50Ms, aim: 300 },
    ]),
  ];
}

/** Formats the date some days ago in the shop's time zone: `2026-11-24`. Sweden uses the date format of ISO 8601. */
function formatDaysAgo(days) {
  const date = new Date(Date.now() - days * DAY_MS);
  return date.toLocaleDateString('sv-SE', { timeZone: 'Asia/Jakarta' });
}
