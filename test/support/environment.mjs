import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's Node environment with one thing more: `importBuilt`, which loads a module of the build with Node's own
 * loader. Jest's loader cannot run the CommonJS mailer on top of ESM Nest, and this way the tests run the very
 * files that ship, loaded once a worker.
 */
export default class BuiltServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.importBuilt = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
  }
}
