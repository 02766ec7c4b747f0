import tests from '../../jest.config.mjs';

/** Failures of a highly available PostgreSQL. One file after the other, because the tests measure time. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/cluster/*.cluster-spec.ts'],
  testTimeout: 240_000,
  maxWorkers: 1,
};
