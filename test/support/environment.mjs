import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's Node environment plus `importWithNode`, the `import` of Node's own loader. Tests load the built service with this
 * function. Jest's loader cannot load the service, because a CommonJS package, the mailer, requires Nest, which is ESM.
 */
export default class BuiltServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.importWithNode = (specifier) => import(specifier);
  }
}
