import tests from '../../jest.config.mjs';

/** What takes whole processes or long sequences: commands, upgrades, telemetry, the client, the model of payments. */
export default {
  ...tests,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/system/**/*.system-spec.ts'],
  testTimeout: 180_000,
  maxWorkers: 2,
};
