import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's Node environment plus two functions that load modules with Node's own loader: `importBuilt` for modules of the
 * build and `importPackage` for packages that must share the build's instance of Nest. Jest's loader cannot run the
 * CommonJS mailer on top of ESM Nest. In this way the tests run the very files that ship, loaded once per worker.
 */
export default class BuiltServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.importBuilt = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
    this.global.importPackage = (name) => import(name);
  }
}
