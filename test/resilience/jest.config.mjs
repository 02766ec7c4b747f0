import tests from '../../jest.config.mjs';

export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/resilience/**/*.resilience-spec.ts'],
  testTimeout: 180_000,
  // The tests measure time, so their files run one after another.
  maxWorkers: 1,
};
