import tests from '../../jest.config.mjs';

export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.resilience-spec.ts'],
  testTimeout: process.env.RESILIENCE === 'long' ? 1_800_000 : 180_000,
  // The tests measure time, so their files run one after another.
  maxWorkers: 1,
};
