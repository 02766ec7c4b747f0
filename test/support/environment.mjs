import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's Node environment plus two functions that load modules with Node's own loader: `importBuilt` for modules of the
 * build and `importPackage` for packages that must share their instance with the build. Jest's loader cannot load the
 * service, because a CommonJS package, the mailer, requires Nest, which is ESM. The tests run the very files that ship.
 */
export default class BuiltServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.importBuilt = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
    this.global.importPackage = (name) => import(name);
  }
}
