import { TestEnvironment } from 'jest-environment-node';
import { chromium } from 'playwright-core';

/** Connects each test file to the browser that `run.mjs` has started. */
export default class BrowserEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.browser = await chromium.connect(process.env.TEST_BROWSER);
  }

  async teardown() {
    await this.global.browser?.close();
    await super.teardown();
  }
}
