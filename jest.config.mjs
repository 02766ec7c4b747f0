/**
 * Tests are TypeScript, run by Jest as native ES modules. `test/support/environment.mjs` lets end-to-end tests run the
 * service from the build (`dist/`), the very files that ship. From `src/`, they import only types and modules that need no
 * Nest application, such as constants and calendar functions, which Jest compiles.
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
