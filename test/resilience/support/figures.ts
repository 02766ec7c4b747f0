import { appendFileSync } from 'node:fs';

export const isLongForm = process.env.RESILIENCE === 'long';

/**
 * Adds to the summary that stands at the end of the run.
 * @param figures sums by what they count; of what ends in ` ms` or ` most MiB` the largest is shown
 */
export function record(topic: string, figures: Readonly<Record<string, number>>): void {
  const file = process.env.RESILIENCE_FIGURES;
  if (file === undefined)
    throw new Error('RESILIENCE_FIGURES is not set: run with test/resilience/jest.config.mjs');
  const rounded = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value)]),
  );
  appendFileSync(file, `${JSON.stringify({ topic, figures: rounded })}\n`);
}
