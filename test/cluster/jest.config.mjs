import tests from '../../jest.config.mjs';

/**
 * Tests of several service processes: failures of a highly available PostgreSQL, and rolling restarts. The files run one
 * after another, because the tests measure time.
 */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/cluster/*.cluster-spec.ts'],
  testTimeout: 240_000,
  maxWorkers: 1,
};
