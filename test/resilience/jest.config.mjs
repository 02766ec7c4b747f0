import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tests from '../../jest.config.mjs';

// Read once, before any worker is made, which inherits the environment.
process.env.RESILIENCE_SEED ??= String(randomInt(1_000_000_000));
process.env.RESILIENCE_FIGURES ??= join(mkdtempSync(join(tmpdir(), 'bakery-figures-')), 'figures.jsonl');

/** The tests under faults: see README.md beside this file. One file after the other, for they measure time. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.resilience-spec.ts'],
  testTimeout: process.env.RESILIENCE === 'long' ? 1_800_000 : 180_000,
  reporters: ['default', '<rootDir>/test/resilience/figures-reporter.mjs'],
  maxWorkers: 1,
};
