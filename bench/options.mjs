import { parseArgs } from 'node:util';

export const ROWS = ['list', 'page-cost', 'payments', 'orders', 'login', 'create', 'start', 'memory'];

const HELP = `Measures the service beside the floors of this machine, in one run.

    npm run bench -- [options]

  --rows list,login   only these groups of rows: ${ROWS.join(', ')}
  --rounds 3          measured rounds of each target; the figure is their median
  --seconds 5         length of a round
  --products 100000   products in the catalog
  --soak [300]        mixed load for the row "memory", in seconds (without it 20)
  --out FILE          where the figures go (bench/results.json)
  --profile FOLDER    keep a CPU profile (.cpuprofile) of every service process there
  --help

Rounds are interleaved, after one of warming up that does not count. A row is invalid if one answer was not the
expected one. The exit code is 1 if a row is invalid or misses its target.`;

/** Reads the command line; prints the help and gives null where that is asked for. */
export function readOptions(argv) {
  const soakAlone = argv.indexOf('--soak');
  const hasLength = soakAlone === -1 || /^\d+$/.test(argv[soakAlone + 1] ?? '');
  const args = hasLength ? argv : argv.toSpliced(soakAlone, 1, '--soak', '300');
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: ROWS.join(',') },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      products: { type: 'string', default: '100000' },
      soak: { type: 'string', default: '20' },
      out: { type: 'string', default: 'bench/results.json' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return null;
  }
  const rows = values.rows.split(',');
  const unknown = rows.filter((row) => !ROWS.includes(row));
  if (unknown.length > 0)
    throw new Error(`no such row: ${unknown.join(', ')} (there are ${ROWS.join(', ')})`);
  return {
    rows: ROWS.filter((row) => rows.includes(row)),
    rounds: wholeNumber('--rounds', values.rounds),
    seconds: wholeNumber('--seconds', values.seconds),
    products: wholeNumber('--products', values.products),
    soakSeconds: wholeNumber('--soak', values.soak),
    out: values.out,
    profile: values.profile,
  };
}

function wholeNumber(name, text) {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${name} wants a whole number, not ${text}`);
  return number;
}
