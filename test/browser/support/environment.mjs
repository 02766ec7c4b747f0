import { TestEnvironment } from 'jest-environment-node';
import { chromium } from 'playwright-core';

/** Connects each test file to the browser that `run.mjs` has started. */
export default class BrowserEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.browser = await chromium.connect(process.env.TEST_BROWSER);
  }

  /** Prints what each page shows when a test fails. */
  async handleTestEvent({ name, test }) {
    if (name !== 'test_fn_failure') return;
    for (const page of this.global.browser.contexts().flatMap((context) => context.pages())) {
      const text = await page.innerText('body', { timeout: 2_000 }).catch(String);
      console.error(`${test.name}\n${page.url()}\n${text}`);
    }
  }

  async teardown() {
    await this.global.browser?.close();
    await super.teardown();
  }
}
