import { execFileSync } from 'node:child_process';

/** Length of the warm-up. V8 compiles during the load, so rates increase for this long on two cores. */
const WARM_UP_SECONDS = 30;
/** Uncounted load before each round, because V8 releases memory and compiled code while a target is idle. */
export const LEAD_IN_SECONDS = 2;
const CONNECTIONS = 32;

/**
 * Measures targets in rounds. Each round has another order, so that a machine that becomes slower affects all targets alike.
 *
 * @param targets by name: {url, traffic, connections?, status? or statuses?}. Other statuses are problems
 * @returns by name: {perSecond, p50Ms, p99Ms (medians of the rounds), rounds, problems}
 */
export async function measure({ generator, options, log }, targets) {
  const names = Object.keys(targets);
  const rounds = Object.fromEntries(names.map((name) => [name, []]));
  const problems = Object.fromEntries(names.map((name) => [name, new Set()]));
  for (let round = 0; round <= options.rounds; round += 1) {
    const isWarmUp = round === 0;
    for (const name of rotate(names, round)) {
      const { url, traffic, connections = CONNECTIONS, status = 200, statuses = [status] } = targets[name];
      const seconds = isWarmUp ? warmUpSeconds(options.seconds) : options.seconds;
      const targetId = `${name} ${traffic.kind} ${url}`;
      // Flush the writes of the previous target, which would otherwise reach the disk during this round.
      execFileSync('sync');
      const load = { target: targetId, traffic, url, connections };
      if (!isWarmUp) await generator.run({ ...load, seconds: LEAD_IN_SECONDS });
      const result = await generator.run({ ...load, seconds });
      for (const problem of findProblems(result, statuses)) problems[name].add(problem);
      log(`  ${isWarmUp ? 'warming up' : `round ${round}`}: ${name} ${result.perSecond.toFixed(0)}/s`);
      if (!isWarmUp) rounds[name].push(result);
    }
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        perSecond: medianOf(rounds[name], 'perSecond'),
        p50Ms: medianOf(rounds[name], 'p50Ms'),
        p99Ms: medianOf(rounds[name], 'p99Ms'),
        rounds: rounds[name],
        problems: [...problems[name]],
      },
    ]),
  );
}

/** Returns the length of the warm-up, which is shorter if rounds are shorter than 5 seconds. */
export function warmUpSeconds(roundSeconds) {
  return Math.ceil(WARM_UP_SECONDS * Math.min(1, roundSeconds / 5));
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function findProblems({ statuses, failures, ranOut }, expected) {
  const unexpected = Object.keys(statuses).filter((status) => !expected.includes(Number(status)));
  return [
    ...(Object.keys(statuses).length === 0 ? ['no response'] : []),
    ...unexpected.map((status) => `${statuses[status]} responses with ${status}`),
    ...(failures > 0 ? [`${failures} failed connections or time-outs`] : []),
    ...(ranOut ? ['ran out of requests'] : []),
  ];
}

function rotate(names, by) {
  const start = by % names.length;
  return [...names.slice(start), ...names.slice(0, start)];
}

function medianOf(rounds, figure) {
  return median(rounds.map((round) => round[figure]));
}
