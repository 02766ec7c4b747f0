import tests from '../../jest.config.mjs';

/** Tests of whole processes: commands, upgrades, telemetry, the client. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/system/**/*.system-spec.ts'],
  testTimeout: 180_000,
  maxWorkers: 2,
};
