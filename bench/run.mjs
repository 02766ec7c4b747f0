import { writeFile } from 'node:fs/promises';
import { Generator } from './load/generator-process.mjs';
import { readOptions } from './options.mjs';
import { describeRun, formatTable, hasPassed } from './report.mjs';
import { create } from './rows/create.mjs';
import { day } from './rows/day.mjs';
import { list } from './rows/list.mjs';
import { login } from './rows/login.mjs';
import { memory } from './rows/memory.mjs';
import { orders } from './rows/orders.mjs';
import { pageCost } from './rows/page-cost.mjs';
import { payments } from './rows/payments.mjs';
import { reports } from './rows/reports.mjs';
import { start } from './rows/start.mjs';
import { Stage } from './stage.mjs';

/** Functions that measure the rows of the table, by row name. */
const measurements = {
  list,
  'page-cost': pageCost,
  payments,
  orders,
  login,
  create,
  reports,
  start,
  memory,
  day,
};

const options = readOptions(process.argv.slice(2), Object.keys(measurements));
if (options !== null) process.exitCode = (await run(options)) ? 0 : 1;

async function run(chosen) {
  const log = (line) => console.error(line);
  const generator = new Generator();
  const stage = await Stage.open(chosen, log);
  const end = async () => {
    generator.stop();
    await stage.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void end().finally(() => process.exit(130)));
  const rows = [];
  try {
    for (const name of chosen.rows) {
      log(`${name}:`);
      rows.push(...(await measurements[name]({ stage, generator, options: chosen, log })));
    }
  } finally {
    await end();
  }
  const results = { ...describeRun(), options: chosen, rows };
  if (chosen.out !== null) await writeFile(chosen.out, formatResults(results));
  console.log(formatTable(rows));
  return rows.every(hasPassed);
}

/** Formats the results as JSON with one line for each round. A round is an object that contains one object, `statuses`. */
function formatResults(results) {
  const text = JSON.stringify(results, null, 1);
  return `${text.replaceAll(/\{[^{}[\]]*(?:\{[^{}]*\})[^{}[\]]*\}/g, (round) => round.replaceAll(/\s+/g, ' '))}\n`;
}
