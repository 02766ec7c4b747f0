import { readFile } from 'node:fs/promises';

/** Ticks of processor time in a second on Linux. */
const TICKS_PER_SECOND = 100;

/**
 * Repeats a task for some seconds in several workers at once. A worker starts its next task after the previous one. The first
 * error ends the run.
 *
 * @returns {count, perSecond, p50Ms, p99Ms, processorMs: processor time of the process for each task}
 */
export async function repeat({ concurrency, seconds, pid }, task) {
  const durations = [];
  const processorBefore = await processorMs(pid);
  const startedAt = performance.now();
  const work = async (worker) => {
    while (performance.now() - startedAt < seconds * 1000) {
      const begin = performance.now();
      await task(worker);
      durations.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)));
  const elapsedMs = performance.now() - startedAt;
  const sorted = durations.toSorted((a, b) => a - b);
  const quantile = (share) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]);
  return {
    count: sorted.length,
    perSecond: (1000 * sorted.length) / elapsedMs,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    processorMs: ((await processorMs(pid)) - processorBefore) / sorted.length,
  };
}

/** Returns the processor time that a process has used, all of its threads included. Linux only. */
async function processorMs(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the command may contain spaces. The fields after it begin with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (1000 * (Number(fields[11]) + Number(fields[12]))) / TICKS_PER_SECOND;
}
