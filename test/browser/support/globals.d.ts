import type { Browser } from 'playwright-core';

declare global {
  /** Browser of the test run; see environment.mjs. */
  var browser: Browser;
}
