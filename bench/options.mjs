import { parseArgs } from 'node:util';

const buildHelp = (allRows) => `Measures the service, and the floors: minimal programs that do the same work.

    npm run bench -- [options]

  --rows list,login  measure only these rows: ${allRows.join(', ')}
  --rounds 3         measured rounds of each program; the figure is their median
  --seconds 3        length of a round
  --long             5 rounds of 8 seconds
  --soak [900]       seconds of mixed load for the row "memory" (20 without it)
  --day 180          seconds of the row "day", in which the hour runs 20 times as fast. Fewer seconds play only its beginning
  --out FILE         file for the figures (default: bench/results.json, or none with --rows)
  --profile FOLDER   write a CPU profile (.cpuprofile) of every service process to this folder

Rounds are interleaved and follow a warm-up round that does not count. A row is invalid if one response was not the
expected one. The exit code is 1 if a row is invalid or misses a required value.`;

/** Parses the command line. Returns null after printing the help. */
export function readOptions(argv, allRows) {
  const soakIndex = argv.indexOf('--soak');
  // `parseArgs` has no options whose value may be left out.
  const hasNoSoakSeconds = soakIndex !== -1 && !/^\d+$/.test(argv[soakIndex + 1] ?? '');
  const { values } = parseArgs({
    args: hasNoSoakSeconds ? argv.toSpliced(soakIndex, 1, '--soak', '900') : argv,
    options: {
      rows: { type: 'string' },
      long: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      soak: { type: 'string', default: '20' },
      day: { type: 'string', default: '180' },
      out: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(buildHelp(allRows));
    return null;
  }
  const rows = values.rows?.split(',') ?? allRows;
  const unknown = rows.filter((row) => !allRows.includes(row));
  if (unknown.length > 0) throw new Error(`unknown row: ${unknown.join(', ')} (rows: ${allRows.join(', ')})`);
  return {
    rows: allRows.filter((row) => rows.includes(row)),
    rounds: parseWholeNumber('--rounds', values.rounds ?? (values.long ? '5' : '3')),
    seconds: parseWholeNumber('--seconds', values.seconds ?? (values.long ? '8' : '3')),
    soakSeconds: parseWholeNumber('--soak', values.soak),
    daySeconds: parseWholeNumber('--day', values.day),
    out: values.out ?? (values.rows === undefined ? 'bench/results.json' : null),
    profile: values.profile,
  };
}

function parseWholeNumber(name, text) {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${name} requires a whole number, not ${text}`);
  return number;
}
