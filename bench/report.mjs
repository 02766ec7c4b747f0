import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/**
 * Builds a row of the table from figures and the ratios between them.
 *
 * @param figures by name: the result of `measure`, {value, unit}, or {count, p50Ms, p99Ms}
 * @param ratios [{name, value, atLeast? | atMost? | aim?}]; a missed desired value (`aim`) does not fail the run
 */
export function buildRow(name, figures, ratios) {
  const problems = Object.entries(figures).flatMap(([program, figure]) =>
    (figure.problems ?? []).map((problem) => `${program}: ${problem}`),
  );
  return {
    name,
    figures,
    ratios: ratios.map((ratio) => ({ ...ratio, holds: isRequirementMet(ratio) })),
    problems,
  };
}

/** Builds the ratio of two rates, with an optional required value ({atLeast} or {atMost}) or desired value ({aim}). */
export function buildRatio(name, figure, other, limit = {}) {
  return { name, value: figure.perSecond / other.perSecond, ...limit };
}

export function hasPassed({ problems, ratios }) {
  return problems.length === 0 && ratios.every((ratio) => ratio.holds !== false);
}

/** Formats the table as text. */
export function formatTable(rows) {
  const lines = rows.flatMap(formatRow);
  const header = ['row', 'figure', 'ratio', 'target', ''];
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column].length)),
  );
  return [header, widths.map((width) => '-'.repeat(width)), ...lines]
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatRow({ name, figures, ratios, problems }) {
  const texts = Object.entries(figures).map(([program, figure]) => `${program} ${formatFigure(figure)}`);
  const ratioCells = ratios.map(({ holds: isHeld, ...ratio }) => [
    `${ratio.name} ${ratio.value.toFixed(ratio.value < 10 ? 2 : 0)}`,
    formatLimit(ratio),
    problems.length > 0 ? 'INVALID' : ({ true: 'holds', false: 'MISSED' }[isHeld] ?? ''),
  ]);
  const height = Math.max(texts.length, ratioCells.length);
  const lines = Array.from({ length: height }, (_, index) => [
    index === 0 ? name : '',
    texts[index] ?? '',
    ...(ratioCells[index] ?? ['', '', '']),
  ]);
  return [...lines, ...problems.map((problem) => ['', `  ! ${problem}`, '', '', 'INVALID'])];
}

function formatLimit({ atLeast, atMost, aim }) {
  if (atLeast !== undefined) return `≥ ${atLeast}`;
  if (atMost !== undefined) return `≤ ${atMost}`;
  return aim === undefined ? '' : `aim ${aim}`;
}

function formatFigure({ perSecond, count, p50Ms, p99Ms, value, unit }) {
  if (value !== undefined) return `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`;
  const amount = count === undefined ? `${perSecond.toFixed(0)}/s` : `${count}`;
  return `${amount}, p50 ${p50Ms} ms, p99 ${p99Ms} ms`;
}

/** Returns null for a ratio without a required value. */
function isRequirementMet({ value, atLeast, atMost }) {
  if (atLeast !== undefined) return value >= atLeast;
  return atMost === undefined ? null : value <= atMost;
}

/** Describes the time, the commit and the machine of a run. */
export function describeRun() {
  const processors = cpus();
  return {
    at: new Date().toISOString(),
    commit: git('rev-parse', 'HEAD'),
    hasLocalChanges: git('status', '--porcelain', '--untracked-files=no') !== '',
    node: process.version,
    system: `${process.platform} ${release()} ${process.arch}`,
    processors: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    memoryMB: Math.round(totalmem() / 2 ** 20),
  };
}

/** Runs git. Returns null outside of a checkout. */
function git(...args) {
  try {
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
