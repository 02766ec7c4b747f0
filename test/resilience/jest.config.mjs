import tests from '../../jest.config.mjs';

/** The tests under faults: see README.md beside this file. One file after the other, for they measure time. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.resilience-spec.ts'],
  testTimeout: process.env.RESILIENCE === 'long' ? 1_800_000 : 180_000,
  maxWorkers: 1,
};
