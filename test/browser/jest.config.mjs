import base from '../../jest.config.mjs';

/** Tests in a real browser. `run.mjs` starts the browser, and for each worker a service and a storefront. */
export default {
  rootDir: '../..',
  testEnvironment: '<rootDir>/test/browser/support/environment.mjs',
  testMatch: ['<rootDir>/test/browser/*.browser.ts'],
  extensionsToTreatAsEsm: base.extensionsToTreatAsEsm,
  moduleNameMapper: base.moduleNameMapper,
  transform: base.transform,
  testTimeout: 120_000,
  maxWorkers: 2,
};
