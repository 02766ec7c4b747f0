import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { until } from '../../support/wait.js';

export const PHONE = { width: 390, height: 844 } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;

/** Stops Chromium from calling services of its vendor. */
const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PASSWORD = 'kue lapis legit';
const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCREENSHOTS = join(ROOT, '.screenshots');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const serviceUrl = setting('TEST_SERVICE_URL');
export const storefrontUrl = setting('TEST_STOREFRONT_URL');
/** Storefront of a service with CATALOG_ACCESS=public. */
export const publicStorefrontUrl = setting('TEST_PUBLIC_STOREFRONT_URL');

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Person with a browser session of their own. */
export interface Shopper {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Uncaught errors and violations of the content security policy. */
  readonly problems: readonly string[];
  /** Opens another tab. */
  readonly tab: () => Promise<Page>;
}

let browser: Browser;
const contexts: BrowserContext[] = [];

// Every test file that imports this module starts one browser. Sessions are closed after each test.
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: setting('BROWSER'), args: BROWSER_ARGS });
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(() => browser.close());

export async function newShopper(viewport: Size = DESKTOP, baseURL = storefrontUrl): Promise<Shopper> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', baseURL });
  contexts.push(context);
  context.setDefaultTimeout(15_000);
  const problems: string[] = [];
  context.on('weberror', (error) => problems.push(error.error().message));
  context.on('console', (message) => {
    // The browser logs every response of 400 and above as an error. Those are part of the interface.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text());
  });
  const page = await context.newPage();
  return { context, page, problems, tab: () => context.newPage() };
}

/** Registers a new person through the storefront and skips verification. */
export async function register(page: Page, fullname = 'Ayu Lestari'): Promise<string> {
  const email = newEmail();
  await page.goto('/register');
  await page.getByLabel('Your name').fill(fullname);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Repeat password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('link', { name: 'Do it later' }).click();
  await waitForHeading(page, 'Baked before sunrise');
  return email;
}

export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signs in as the administrator, who starts on the page of the day. */
export async function signInAsAdmin(page: Page): Promise<void> {
  const { email, password } = JSON.parse(setting('TEST_ADMIN')) as { email: string; password: string };
  await signIn(page, email, password);
  await waitForHeading(page, 'Today');
}

/** Takes an order to a step as an administrator, without the browser. */
export function takeFulfilmentStep(orderId: string, fulfilment: string): Promise<Response> {
  return asAdmin('PUT', `/api/admin/orders/${orderId}/fulfilment`, JSON.stringify({ fulfilment }));
}

/** Calls the service as the administrator, without the browser. The body is a form or JSON. */
export async function asAdmin(method: string, path: string, body?: FormData | string): Promise<Response> {
  const login = await fetch(`${serviceUrl}/api/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: setting('TEST_ADMIN'),
  });
  const cookie = login.headers.getSetCookie().map((header) => header.split(';', 1)[0]);
  const headers = new Headers({ cookie: cookie.join('; ') });
  if (typeof body === 'string') headers.set('Content-Type', 'application/json');
  return fetch(serviceUrl + path, { method, headers, ...(body !== undefined && { body }) });
}

let people = 0;

export function newEmail(): string {
  people += 1;
  return `shopper-${process.pid}-${people}-${Date.now()}@example.com`;
}

/** Returns the code that was last mailed to an address. */
export async function readMailedCode(email: string): Promise<string> {
  const folder = setting('TEST_OUTBOX');
  return until(`a mail to ${email}`, async () => {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort().reverse()) {
      const mail = name.endsWith('.eml') ? await readFile(join(folder, name), 'utf8') : '';
      if (!mail.includes(email)) continue;
      // Lines are folded by quoted-printable (RFC 2045, 6.7).
      return /\bis (\d{6})\b/.exec(mail.replaceAll(/=\r?\n/g, '').replaceAll(/\s+/g, ' '))?.[1] ?? null;
    }
    return null;
  });
}

/** Waits for a page's heading. */
export async function waitForHeading(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Waits until a text is visible. */
export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Searches the list of a page. */
export async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').fill(text);
  await page.getByRole('search').getByRole('button', { name: 'Search' }).click();
}

/** Returns by how many pixels the page is wider than the window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Returns the violations of WCAG 2.2 AA and of best practices that axe-core finds, as texts. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(where: Document, how: object): Promise<AxeResult> } }).axe.run(
      document,
      { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
    ),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
}

/** Saves a picture for people to look at, in a folder that git ignores. Only if SCREENSHOTS is set, to save time. */
export async function takeScreenshot(page: Page, name: string, isFull = false): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: isFull });
}

/** Saves a picture for the README. SCREENSHOTS=keep writes it into the repository. */
export async function takeReadmeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS === undefined) return;
  await waitForPictures(page);
  await page.locator('.toast').waitFor({ state: 'detached' });
  const folder = process.env.SCREENSHOTS === 'keep' ? join(ROOT, 'docs', 'screenshots') : SCREENSHOTS;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 85 });
}

/** Waits until every picture in the visible part of the page is loaded. */
export async function waitForPictures(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...document.images]
      .filter((image) => image.getBoundingClientRect().top < window.innerHeight)
      .every((image) => image.complete && image.naturalWidth > 0),
  );
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start these tests with npm run test:browser`);
  return value;
}
