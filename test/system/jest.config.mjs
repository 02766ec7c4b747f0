import tests from '../../jest.config.mjs';

/** System tests, for example of commands, upgrades, telemetry and the client. Most of them start processes of the build. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/system/**/*.system-spec.ts'],
  testTimeout: 180_000,
  maxWorkers: 2,
};
