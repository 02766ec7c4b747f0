/**
 * Tests are TypeScript, run by Jest as native ES modules. End-to-end tests do not compile the service a
 * second time: `test/support/environment.mjs` lets them import the build (`dist/`), the very files that ship.
 */
export default {
  testEnvironment: './test/support/environment.mjs',
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  testMatch: ['<rootDir>/test/**/*.{e2e-,}spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
      },
    ],
  },
  testTimeout: 60_000,
  maxWorkers: 3,
};
