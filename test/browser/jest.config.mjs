import base from '../../jest.config.mjs';

/** Tests in a real browser. `run.mjs` starts the service and the storefront. */
export default {
  rootDir: '../..',
  testMatch: ['<rootDir>/test/browser/*.browser.ts'],
  extensionsToTreatAsEsm: base.extensionsToTreatAsEsm,
  moduleNameMapper: base.moduleNameMapper,
  transform: base.transform,
  testTimeout: 120_000,
  maxWorkers: 1,
};
