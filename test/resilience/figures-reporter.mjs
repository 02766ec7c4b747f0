import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Prints, after the last test, what the tests recorded with `support/figures.ts`, and the seed of their randomness. */
export default class FiguresReporter {
  onRunComplete() {
    const { RESILIENCE_FIGURES: file = '', RESILIENCE_SEED: seed, RESILIENCE: form = 'short' } = process.env;
    const topics = new Map();
    for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []) {
      const { topic, figures } = JSON.parse(line);
      const sums = topics.get(topic) ?? new Map();
      topics.set(topic, sums);
      for (const [name, value] of Object.entries(figures)) {
        const before = sums.get(name) ?? 0;
        sums.set(name, / (ms|most MiB)$/.test(name) ? Math.max(before, value) : before + value);
      }
    }
    const lines = [...topics].flatMap(([topic, sums]) => [
      `  ${topic}`,
      ...[...sums].map(([name, value]) => `    ${String(value).padStart(8)}  ${name}`),
    ]);
    process.stdout.write(
      `\nFigures (${form} form, RESILIENCE_SEED=${seed}; times and what is most are the worst ones, all else sums)\n${lines.join('\n')}\n`,
    );
    rmSync(dirname(file), { recursive: true, force: true });
  }
}
